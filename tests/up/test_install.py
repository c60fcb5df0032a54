"""The packages: installed once, and what stands in the way is one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dashboard import install
from dashboard.install import Unable

PIP_SAYS = [
    (
        (
            "ERROR: Could not find a version that satisfies the requirement av==18.1.0\n"
            "ERROR: No matching distribution found for av==18.1.0"
        ),
        "There is no ready-made package of av==18.1.0",
    ),
    (
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError(...)'\n"
            "ERROR: No matching distribution found for amqp==5.4.2"
        ),
        "The package index does not answer",
    ),
    ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "is not the one that was locked"),
    ("ERROR: Could not install: [Errno 28] No space left on device", "The disk is full"),
    ("something\nERROR: unheard of", "The packages were not installed: ERROR: unheard of"),
    ("", "no reason was given"),
]


@pytest.mark.parametrize(("output", "sentence"), PIP_SAYS)
def test_what_pip_says_becomes_one_sentence(output, sentence):
    said = install.why(output)

    assert sentence in said
    assert "\n" not in said


def test_an_old_python_is_named_with_the_way_out(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))

    with pytest.raises(Unable, match=r"needs Python 3\.11 or newer; .* is 3\.9"):
        install.install()


def test_a_python_without_venv_is_told_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(install, "VENV", tmp_path / "venv")
    monkeypatch.setattr(install, "has", lambda module: module != "venv")

    with pytest.raises(Unable, match="apt-get install python3-venv"):
        install.make_venv()


def test_an_environment_that_holds_the_lock_is_left_alone(monkeypatch, tmp_path):
    (tmp_path / "installed").write_text(install.stamp())
    monkeypatch.setattr(install, "STAMP", tmp_path / "installed")
    monkeypatch.setattr(install, "PYTHON", tmp_path / "installed")
    monkeypatch.setattr(install, "run", lambda command: pytest.fail(f"ran {command}"))

    assert install.install() == 0


def test_an_update_that_is_interrupted_begins_with_a_fresh_environment(monkeypatch, tmp_path):
    """Half of its packages may be the new lock's; the first attempt keeps what there is."""
    made: list[str] = []

    def interrupted(command: list[str]) -> None:
        raise KeyboardInterrupt

    held = tmp_path / "installed"
    held.write_text(f"another-lock {install.python_of(install.stamp())}")
    monkeypatch.setattr(install, "STAMP", held)
    monkeypatch.setattr(install, "PYTHON", tmp_path)
    monkeypatch.setattr(install, "make_venv", lambda: made.append("fresh"))
    monkeypatch.setattr(install, "run", interrupted)
    for fresh in ([], ["fresh"]):
        with pytest.raises(KeyboardInterrupt):
            install.install()
        assert (made, held.exists()) == (fresh, False)


@pytest.mark.parametrize(
    ("said", "kept"),
    [("ERROR: ConnectTimeout", True), (f"{install.BEGUN}: a, b\nNo space left", False)],
)
def test_an_update_that_fails_before_it_begins_leaves_the_release_before(
    monkeypatch, tmp_path, said, kept
):
    """Its packages are all there: who goes back to it has no index to ask."""
    was = f"another-lock {install.python_of(install.stamp())}"
    held = tmp_path / "installed"
    held.write_text(was)
    monkeypatch.setattr(install, "STAMP", held)
    monkeypatch.setattr(install, "PYTHON", tmp_path)
    failed = subprocess.CompletedProcess([], 1, stdout=said)
    monkeypatch.setattr(install, "run", lambda command: failed)
    with pytest.raises(install.Unable):
        install.install()
    assert held.exists() is kept
    assert not kept or held.read_text() == was


def test_the_stamp_changes_with_the_lock_and_with_the_python(monkeypatch, tmp_path):
    before = install.stamp()
    lock = tmp_path / "requirements.lock"
    lock.write_text("other==1\n")
    monkeypatch.setattr(install, "LOCK", lock)
    other_lock = install.stamp()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0))

    assert len({before, other_lock, install.stamp()}) == 3


def test_a_refusal_is_printed_without_a_traceback(monkeypatch, capsys):
    monkeypatch.setattr(sys, "version_info", (3, 7, 0))

    assert install.main() == 1
    assert capsys.readouterr().err.startswith("reelroom: Reelroom needs Python 3.11")
