"""The programs of one installation: started into one process group, told of, stopped together."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from dashboard.up.install import ROOT, SetupError

STOP_GRACE_S = 8
MAX_LINE_BYTES = 1 << 20
PROGRAM_COLOURS = {
    "web": 36,
    "worker": 35,
    "slow": 95,
    "beat": 34,
    "sandbox": 33,
    "valkey": 31,
    "prepare": 32,
}


class ProcessGroup:
    """A context: leaving it leaves no process behind."""

    def __init__(self, lock: IO[str]) -> None:
        """`lock` is held until the last program is gone, also when this process is killed."""
        self.running: dict[str, Process] = {}
        self.speakers: list[asyncio.Task[None]] = []
        self.warden = subprocess.Popen(  # noqa: S603 - our own words only
            [sys.executable, "-S", "-E", str(Path(__file__).with_name("reaper.py"))],
            stdin=subprocess.PIPE,
            process_group=0,
            pass_fds=(lock.fileno(),),
        )

    async def __aenter__(self) -> Self:
        return self

    async def start(self, name: str, command: Sequence[str], environ: Mapping[str, str]) -> None:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=ROOT,
            env=environ,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            limit=MAX_LINE_BYTES,
            process_group=self.warden.pid,
        )
        self.running[name] = process
        self.speakers.append(asyncio.create_task(relay_output(name, process)))

    async def wait_for_exit(self, name: str) -> int:
        """The exit code of a program that was meant to end."""
        code = await self.running[name].wait()
        del self.running[name]
        return code

    async def raise_on_first_exit(self) -> None:
        """Returns never: raises the sentence for the first program that ended by itself."""
        while True:
            for name, process in self.running.items():
                if process.returncode is not None and name != "prepare":
                    how = describe_exit(process.returncode)
                    raise SetupError(f"The program {name} ended ({how}); its last lines say why.")
            if self.warden.poll() is not None:
                raise SetupError("The warden of the processes ended.")
            await asyncio.sleep(0.2)

    async def stop(self, *names: str) -> None:
        """Ask them to end; those that are not gone after the grace are killed."""
        asked = [self.running[name] for name in names if name in self.running]
        for process in asked:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_GRACE_S):
                await asyncio.gather(*(process.wait() for process in asked))

    def kill(self) -> None:
        """End the whole group now, grandchildren and the warden included."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.warden.pid, signal.SIGKILL)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Those who use the others go first, so that nobody complains of the others' absence.
        await self.stop("web", "beat", "worker", "slow", "prepare")
        await self.stop("sandbox", "valkey")
        self.kill()
        self.warden.wait()
        if self.speakers:
            await asyncio.wait(self.speakers, timeout=1)


async def relay_output(name: str, process: Process) -> None:
    """Repeat what the program says, each line with its name before it."""
    assert process.stdout is not None  # noqa: S101 - it was started with a pipe
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    prefix = f"{name:<8} | "
    if colour:
        prefix = f"\033[{PROGRAM_COLOURS[name]}m{prefix}\033[0m"
    with contextlib.suppress(ValueError):  # a line of more than a megabyte ends the telling
        async for line in process.stdout:
            print_line(prefix + line.decode(errors="replace").rstrip())


def print_line(text: str) -> None:
    """Print it, unless the terminal was closed or the pipe's reader is gone: then nothing, ever.

    The programs go on all the same: one whose lines nobody fetches stops at its next one.
    """
    try:
        print(text, flush=True)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def describe_exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
