"""The packages: installed once, and what stands in the way is one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.up import install
from dashboard.up.install import SetupError
from tests.checks import lock_files

PIP_SAYS = [
    (
        (
            "ERROR: Could not find a version that satisfies the requirement av==18.1.0\n"
            "ERROR: No matching distribution found for av==18.1.0"
        ),
        "There is no wheel of av==18.1.0",
    ),
    (
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: No matching distribution found for amqp==5.4.2"
        ),
        "The package index does not answer",
    ),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "differs from the lock file"),
    ("ERROR: Could not install: [Errno 28] No space left on device", "The disk is full"),
    ("something\nERROR: unheard of", "The packages were not installed: ERROR: unheard of"),
    ("", "no reason was given"),
]


@pytest.mark.parametrize(("output", "sentence"), PIP_SAYS)
def test_what_pip_says_becomes_one_sentence(output, sentence):
    said = install.explain_failure(output)

    assert sentence in said
    assert "\n" not in said


@pytest.fixture
def venv(monkeypatch, tmp_path):
    """A folder with three locks and a `.venv`; `ran` lists what pip was asked to install."""
    (tmp_path / "python").touch()
    for name in install.LOCK_SIZES_MB:
        (tmp_path / name).write_text(f"{name}, first edition")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "STAMP_FILE", tmp_path / "installed")
    monkeypatch.setattr(install, "PYTHON", tmp_path / "python")
    venv = FakeVenv(tmp_path)
    monkeypatch.setattr(install, "run_command", venv.pip)
    monkeypatch.setattr(install, "make_venv", lambda: venv.ran.append("fresh"))
    return venv


class FakeVenv:
    def __init__(self, root):
        self.root, self.ran = root, []
        self.answer = subprocess.CompletedProcess([], 0, stdout="")

    def pip(self, command):
        self.ran.append(Path(command[-1]).name)
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def install(self, name):
        """What pip was asked for in this one start."""
        self.ran.clear()
        install.install_requirements(name)
        return self.ran.copy()

    def change(self, *names):
        for name in names:
            with (self.root / name).open("a") as lock:
                lock.write(", revised")


PRODUCT, MEDIA, DEVELOP = install.LOCK_SIZES_MB


def test_an_old_python_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))

    with pytest.raises(SetupError, match=r"needs Python 3\.11 or newer; .* is 3\.9"):
        install.install_requirements(PRODUCT)


def test_the_locks_are_those_that_are_checked():
    assert list(install.LOCK_SIZES_MB) == [one.file for one in lock_files.LOCKS]


def test_a_python_without_venv_gets_a_sentence_about_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(install, "VENV", tmp_path / "venv")
    monkeypatch.setattr(install, "has_module", lambda module: module != "venv")

    with pytest.raises(SetupError, match="apt-get install python3-venv"):
        install.make_venv()


def test_what_run_installed_is_not_installed_again_for_the_tests_nor_the_other_way_round(venv):
    """Each lock holds all of the one before it, so `make run` has nothing to do after a test."""
    assert venv.install(MEDIA) == ["fresh", MEDIA]
    assert venv.install(MEDIA) == []
    assert venv.install(DEVELOP) == [DEVELOP]
    assert [venv.install(name) for name in install.LOCK_SIZES_MB] == [[], [], []]


def test_who_left_the_media_out_gets_them_when_they_are_asked_for(venv):
    assert venv.install(PRODUCT) == ["fresh", PRODUCT]
    assert venv.install(PRODUCT) == []
    assert venv.install(MEDIA) == [MEDIA]


def test_a_lock_that_changed_is_installed_into_the_environment_that_is_there(venv):
    venv.install(DEVELOP)
    venv.change(DEVELOP)
    assert venv.install(MEDIA) == []
    assert venv.install(DEVELOP) == [DEVELOP]
    venv.change(*install.LOCK_SIZES_MB)
    assert venv.install(MEDIA) == [MEDIA]
    assert venv.install(PRODUCT) == []
    assert venv.install(DEVELOP) == [DEVELOP]


def test_another_python_gets_a_fresh_environment(venv, monkeypatch):
    venv.install(MEDIA)
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))
    assert venv.install(MEDIA) == ["fresh", MEDIA]


def test_an_environment_of_a_release_with_one_lock_is_kept(venv):
    """Its stamp is the digest of the one lock and the Python."""
    (venv.root / "installed").write_text(f"one-lock {install.running_python_version()}")
    assert venv.install(MEDIA) == [MEDIA]


def test_an_update_that_is_interrupted_begins_with_a_fresh_environment(venv):
    """Half of its packages may be the new lock's; the first attempt keeps what there is."""
    venv.install(MEDIA)
    venv.answer = KeyboardInterrupt()
    for ran in ([DEVELOP], ["fresh", DEVELOP]):
        with pytest.raises(KeyboardInterrupt):
            venv.install(DEVELOP)
        assert (venv.ran, (venv.root / "installed").exists()) == (ran, False)


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("ERROR: ConnectTimeout", []),
        (f"{install.INSTALL_STARTED_LINE}: a, b\nNo space left", ["fresh", MEDIA]),
    ],
)
def test_an_update_that_fails_before_it_begins_leaves_what_is_there(said, again, venv):
    """Its packages are all there: who goes on without the new ones has no index to ask."""
    venv.install(MEDIA)
    venv.answer = subprocess.CompletedProcess([], 1, stdout=said)
    with pytest.raises(SetupError):
        venv.install(DEVELOP)
    venv.answer = subprocess.CompletedProcess([], 0, stdout="")
    assert venv.install(MEDIA) == again


@pytest.mark.parametrize(
    ("command", "lock"),
    [
        (["run"], MEDIA),
        (["run", "MEDIA=no"], PRODUCT),
        (["packages"], MEDIA),
        *([[verb], DEVELOP] for verb in ("check", "test", "bench", "drill", "fix")),
    ],
)
def test_each_verb_installs_what_it_needs(command, lock):
    done = subprocess.run(["make", "--dry-run", *command], capture_output=True, text=True)
    assert re.findall(r"dashboard\.up\.install (\S+)", done.stdout) == [lock]


def test_a_refusal_is_printed_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 7, 0))

    assert install.main([PRODUCT]) == 1
    assert capsys.readouterr().err.startswith("reelroom: Reelroom needs Python 3.11")
