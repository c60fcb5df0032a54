"""Start a supervisor in a process of its own, and find what runs in its group."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests.browser.portal_process import OUTSIDE_VARIABLES, free_ports

STUB_COMMAND = [sys.executable, "-m", "tests.up.stub_supervisor"]


def stub_environ(var: Path, **more: str) -> dict[str, str]:
    """The environment of a stub supervisor in the folder `var`, on ports of its own."""
    ours = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    ports = dict(zip(("PORT", "SANDBOX_PORT"), free_ports(), strict=True))
    return {**ours, "REELROOM_VAR": str(var), **ports, **more}


def run_stub_supervisor(var: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run one that is expected to end by itself."""
    environ = stub_environ(var, **more)
    return subprocess.run(STUB_COMMAND, env=environ, capture_output=True, text=True, check=False)


def start_stub_supervisor(var: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        STUB_COMMAND,
        env=stub_environ(var),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # Whoever runs the tests by `nohup` has the portal outlive its terminal, too.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )


def group_of(supervisor: int) -> int:
    """The process group that the reaper leads."""
    children = psutil.Process(supervisor).children()
    return int(next(one.pid for one in children if one.cmdline()[-1].endswith("reaper.py")))


def running_in(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def await_end_of(group: int) -> None:
    """Return when no process of the group is left; the time limit of a test is the limit here."""
    while left := running_in(group):
        psutil.wait_procs(left)
