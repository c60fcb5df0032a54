"""However the portal ends, nothing of it stays behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import psutil
import pytest

from dashboard.up.install_paths import Installation
from dashboard.up.processes import ProcessGroup
from tests.browser.portal_process import OUTSIDE_VARIABLES, READY_LINE, free_ports

pytestmark = pytest.mark.slow  # starts the whole portal


COMMAND = [sys.executable, "-m", "dashboard.up"]


@pytest.fixture(scope="module")
def environ(tmp_path_factory):
    """One folder for all, so that only the first start is a first one."""
    var = str(tmp_path_factory.mktemp("portal"))
    ours = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    return {**ours, "REELROOM_VAR": var}


def ports():
    """Anew for each start: meanwhile somebody else may have got the last ones."""
    return dict(zip(("PORT", "SANDBOX_PORT"), free_ports(), strict=True))


@pytest.fixture
def start_supervisor(environ):
    """A supervisor that has said its last words; its output is left to the test."""
    with subprocess.Popen(
        COMMAND,
        env=environ | ports(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # Whoever runs the tests by `nohup` has the portal outlive its terminal, too.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    ) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if READY_LINE in line:
                break
        else:
            pytest.fail("the portal did not start:\n" + "".join(said))
        yield process
        process.kill()


def group_of(supervisor: int) -> int:
    """The process group that the reaper leads."""
    children = psutil.Process(supervisor).children()
    return int(next(one.pid for one in children if one.cmdline()[-1].endswith("reaper.py")))


def left_in(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def is_gone(group: int) -> bool:
    """A killed process is on its way out for a moment."""
    _, alive = psutil.wait_procs(left_in(group), timeout=10)
    return not alive


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_leaves_no_process_and_is_content(start_supervisor, number):
    group = group_of(start_supervisor.pid)
    assert len(left_in(group)) >= 6, "reaper, valkey, sandbox, web, worker, beat"

    start_supervisor.send_signal(number)
    start_supervisor.communicate()

    assert start_supervisor.returncode == 0
    assert is_gone(group)


def test_a_terminal_that_is_closed_stops_it_though_nobody_hears_what_it_says(start_supervisor):
    group = group_of(start_supervisor.pid)
    start_supervisor.stdout.close()

    start_supervisor.send_signal(signal.SIGHUP)

    assert start_supervisor.wait(timeout=30) == 0
    assert is_gone(group)


def test_what_nobody_hears_holds_up_nobody():
    talkative = (
        "from dashboard.up.processes import print_line\n"
        "for _ in range(1000): print_line('x' * 1000)"
    )
    with subprocess.Popen([sys.executable, "-c", talkative], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()

        assert process.wait(timeout=30) == 0


def test_when_one_program_dies_the_others_go_and_one_sentence_says_which(start_supervisor):
    group = group_of(start_supervisor.pid)
    next(one for one in left_in(group) if "beat" in one.cmdline()).kill()
    said, _ = start_supervisor.communicate()

    assert start_supervisor.returncode == 1
    assert "reelroom: The program beat exited (signal SIGKILL)" in said
    assert "Traceback" not in said
    assert is_gone(group)


def test_a_supervisor_killed_outright_takes_everything_with_it(start_supervisor):
    group = group_of(start_supervisor.pid)

    start_supervisor.kill()
    start_supervisor.communicate()  # ends when the last holder of its output, the reaper, ends

    assert is_gone(group)


def test_the_next_supervisor_waits_for_the_programs_of_a_killed_one(tmp_path):
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path)})
    with place.acquire_lock() as lock:
        reaper = ProcessGroup(lock).reaper
    assert reaper.stdin is not None
    reaper.stdin.close()  # what the end of the supervisor does

    with place.acquire_lock():
        assert reaper.wait(timeout=1) == -signal.SIGKILL


def test_a_second_supervisor_in_the_same_folder_is_refused(start_supervisor, environ):
    elsewhere = environ | ports()

    second = subprocess.run(COMMAND, env=elsewhere, capture_output=True, text=True, check=False)

    assert second.returncode == 1
    assert second.stderr.startswith("reelroom: Reelroom is already running in ")
