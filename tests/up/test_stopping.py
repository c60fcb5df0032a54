"""However the portal ends, nothing of it stays behind.

The programs are stubs; tests/browser/test_past.py stops the real ones.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.up.__main__ import main
from dashboard.up.install_paths import Installation, try_lock
from dashboard.up.processes import ProcessGroup
from tests.browser.portal_process import READY_LINE
from tests.up.supervisors import (
    await_end_of,
    group_of,
    running_in,
    start_stub_supervisor,
    stub_environ,
)

PROGRAMS = {"valkey", "sandbox", "web", "worker", "beat", "charges", "slow"}


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A supervisor that has said its last words; its output is left to the test."""
    with start_stub_supervisor(tmp_path) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if READY_LINE in line:
                break
        else:
            pytest.fail("the portal did not start:\n" + "".join(lines))
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_leaves_no_process_and_is_content(
    supervisor: subprocess.Popen[str], number: signal.Signals
) -> None:
    group = group_of(supervisor.pid)
    names = [process.cmdline()[-1] for process in running_in(group)]
    assert set(names) >= PROGRAMS
    assert names.count("3600") == len(PROGRAMS), "each program has a child"
    supervisor.send_signal(number)
    output, _ = supervisor.communicate()
    assert (output, supervisor.returncode) == ("\n\nreelroom: Stopping.\n", 0)
    await_end_of(group)


def test_a_terminal_that_is_closed_stops_it_though_nobody_hears_what_it_says(
    supervisor: subprocess.Popen[str],
) -> None:
    group = group_of(supervisor.pid)
    assert supervisor.stdout is not None
    supervisor.stdout.close()
    supervisor.send_signal(signal.SIGHUP)
    assert supervisor.wait() == 0
    await_end_of(group)


def test_what_nobody_hears_holds_up_nobody() -> None:
    talkative = (
        "from dashboard.up.processes import print_line\n"
        "for _ in range(1000): print_line('x' * 1000)"
    )
    with subprocess.Popen([sys.executable, "-c", talkative], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0


def test_a_program_that_dies_is_started_again_until_it_dies_once_too_often(
    supervisor: subprocess.Popen[str],
) -> None:
    group = group_of(supervisor.pid)
    assert supervisor.stdout is not None
    for delay in ("0", "0.1"):
        kill_program(group, "beat")
        told = next(line for line in supervisor.stdout if line.startswith("reelroom:"))
        assert told == (
            f"reelroom: The program beat exited (signal SIGKILL). Restarting in {delay} s.\n"
        )
    kill_program(group, "beat")
    output, _ = supervisor.communicate()
    assert supervisor.returncode == 1
    sentence = "The program beat exited 3 times within 5 minutes (signal SIGKILL)"
    assert f"reelroom: {sentence}; see its last lines." in output
    assert "Traceback" not in output
    await_end_of(group)


def kill_program(group: int, name: str) -> None:
    """Wait until it runs, and kill it; the time limit of a test is the limit here."""
    while not (found := [one for one in running_in(group) if one.cmdline()[-1:] == [name]]):
        time.sleep(0.05)
    found[0].kill()


def test_a_supervisor_killed_outright_takes_everything_with_it(
    supervisor: subprocess.Popen[str],
) -> None:
    group = group_of(supervisor.pid)
    supervisor.kill()
    supervisor.communicate()  # ends when the last holder of its output, the reaper, ends
    await_end_of(group)


def test_the_files_of_an_installation_are_its_owners_alone(tmp_path: Path) -> None:
    database = tmp_path / "reelroom.sqlite3"
    before = os.umask(0o022)
    try:
        database.touch()
        with Installation.from_environ({"REELROOM_VAR": str(tmp_path)}).acquire_lock():
            Path(f"{database}-wal").touch()
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.glob("reelroom*")}
    assert modes == {database.name: 0o600, f"{database.name}-wal": 0o600}


def test_the_next_supervisor_waits_for_the_programs_of_a_killed_one(tmp_path: Path) -> None:
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path)})
    with place.acquire_lock() as lock:
        reaper = ProcessGroup(lock).reaper
    with reaper, (tmp_path / "lock").open() as next_lock:
        assert not try_lock(next_lock), "the reaper holds it"
        reaper.kill()
        reaper.wait()
        assert try_lock(next_lock)


def test_a_second_supervisor_in_the_same_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in stub_environ(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("dashboard.up.reaper.KILL_GRACE_S", -2)  # it waits for nobody
    with Installation.from_environ(os.environ).acquire_lock():
        assert main() == 1
    refusal = f"reelroom: Reelroom is already running in {tmp_path}.\n"
    assert capsys.readouterr().err == refusal
