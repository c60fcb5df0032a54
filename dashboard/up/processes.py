"""The programs of one installation: started in one process group, their output relayed, started
again when one dies, stopped together."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from dashboard.up.install import ROOT, SetupError

STOP_GRACE_S = 8
# Seconds before a program that died is started again: first, second and later deaths.
RESTART_DELAYS_S: tuple[float, ...] = (1, 2, 4, 8, 16)
DEATHS_FORGOTTEN_AFTER_S = 300
MAX_LINE_BYTES = 1 << 20
PROGRAM_COLOURS = {
    "web": 36,
    "worker": 35,
    "charges": 91,
    "slow": 95,
    "beat": 34,
    "sandbox": 33,
    "valkey": 31,
    "prepare": 32,
}


class ProcessGroup:
    """A context manager that leaves no process behind."""

    def __init__(self, lock: IO[str]) -> None:
        """`lock` is held until the last program has ended, even if this process is killed."""
        self.running: dict[str, Process] = {}
        self.commands: dict[str, tuple[Sequence[str], Mapping[str, str]]] = {}
        self.deaths: dict[str, list[float]] = {}  # monotonic seconds
        self.restarts_at: dict[str, float] = {}
        self.is_ready = False
        self.output_tasks: list[asyncio.Task[None]] = []
        self.reaper = subprocess.Popen(  # noqa: S603 - no user input
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
            process_group=self.reaper.pid,
        )
        self.running[name], self.commands[name] = process, (command, environ)
        self.output_tasks.append(asyncio.create_task(relay_output(name, process)))

    async def wait_for_exit(self, name: str) -> int:
        """The exit code of a program that is expected to end."""
        code = await self.running[name].wait()
        del self.running[name]
        return code

    async def keep_running(self) -> None:
        """Never return: start again what dies. Raise `SetupError` if a program dies before the
        portal was ready, or more often than there are `RESTART_DELAYS_S`."""
        while True:
            for name, process in list(self.running.items()):
                if process.returncode is not None and name != "prepare":
                    self.schedule_restart(name, describe_exit(process.returncode))
            for name, at in list(self.restarts_at.items()):
                if at <= time.monotonic():
                    del self.restarts_at[name]
                    await self.start(name, *self.commands[name])
            if self.reaper.poll() is not None:
                raise SetupError("The process reaper exited.")
            await asyncio.sleep(0.2)

    def schedule_restart(self, name: str, exit_text: str) -> None:
        del self.running[name]
        now = time.monotonic()
        recent = [at for at in self.deaths.get(name, ()) if now - at < DEATHS_FORGOTTEN_AFTER_S]
        self.deaths[name] = [*recent, now]
        if not self.is_ready:
            raise SetupError(f"The program {name} exited ({exit_text}); see its last lines.")
        if len(recent) == len(RESTART_DELAYS_S):
            raise SetupError(
                f"The program {name} exited {len(recent) + 1} times within "
                f"{DEATHS_FORGOTTEN_AFTER_S // 60} minutes ({exit_text}); see its last lines."
            )
        delay = RESTART_DELAYS_S[len(recent)]
        self.restarts_at[name] = now + delay
        print_line(f"reelroom: The program {name} exited ({exit_text}). Restarting in {delay} s.")

    async def stop(self, *names: str) -> None:
        """Terminate the named programs and wait `STOP_GRACE_S` seconds for them."""
        stopping = [self.running[name] for name in names if name in self.running]
        for process in stopping:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_GRACE_S):
                await asyncio.gather(*(process.wait() for process in stopping))

    def kill(self) -> None:
        """Kill the whole group, including grandchildren and the reaper."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.reaper.pid, signal.SIGKILL)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Programs that use others stop first, so that none logs errors about a stopped one.
        await self.stop("web", "beat", "worker", "charges", "slow", "prepare")
        await self.stop("sandbox", "valkey")
        self.kill()
        self.reaper.wait()
        if self.output_tasks:
            await asyncio.wait(self.output_tasks, timeout=1)


async def relay_output(name: str, process: Process) -> None:
    """Print each line of the program's output after its name."""
    assert process.stdout is not None  # noqa: S101 - it was started with a pipe
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    prefix = f"{name:<8} | "
    if colour:
        prefix = f"\033[{PROGRAM_COLOURS[name]}m{prefix}\033[0m"
    with contextlib.suppress(ValueError):  # a line of more than a megabyte ends the relay
        async for line in process.stdout:
            print_line(prefix + line.decode(errors="replace").rstrip())


def print_line(text: str) -> None:
    """Print the line; if the terminal or pipe is closed, discard this and all later output.

    The programs keep running: without a reader, a program would block at its next line.
    """
    try:
        print(text, flush=True)
    except OSError:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


def describe_exit(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
