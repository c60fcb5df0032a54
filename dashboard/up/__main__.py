"""Starts Valkey, sandbox, workers, beat and web server, says how to sign in, stops them
together."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO

from dashboard.install import Unable
from dashboard.up import valkey, welcome
from dashboard.up.place import LOOPBACK, Place
from dashboard.up.processes import Processes, ending, say

READY_SECONDS = 90
PYTHON = (sys.executable, "-m")
PREPARE = (sys.executable, "manage.py", "prepare")
CELERY = (*PYTHON, "celery", "--quiet", "-A", "dashboard")
WORKER = (*CELERY, "worker", "--queues", "work", "--concurrency", "3", "--loglevel", "WARNING")
SLOW = (
    *(*CELERY, "worker", "--queues", "post,slow", "--pool", "threads", "--concurrency", "12"),
    *("--hostname", "slow@%h", "--loglevel", "WARNING"),
)
SLOW_POOL = {"DATABASE_POOL": "24"}  # two connections for a thread: the task's, and signs of life
BEAT = (*CELERY, "beat", "--loglevel", "WARNING")
WEB = (*PYTHON, "uvicorn", "dashboard.asgi:application", "--host", LOOPBACK)


def main() -> int:
    started = time.monotonic()
    try:
        place = Place.named_by(os.environ)
        with place.take() as lock:
            place.check_ports()
            place.keep_secrets()
            place.keep_address()
            with valkey.socket_in(place.var) as socket:
                asyncio.run(up(place, lock, socket, started))
    except Unable as reason:
        print(f"reelroom: {reason}", file=sys.stderr)
        return 1
    return 0


async def up(place: Place, lock: IO[str], socket: Path, started: float) -> None:
    """Returns when somebody asked to stop; raises `Unable` when something ended by itself."""
    async with Processes(lock) as processes:
        tasks = waiting = {
            asked := asyncio.create_task(asked_to_stop(processes)),
            asyncio.create_task(processes.first_death()),
            asyncio.create_task(begin(place, processes, socket, started)),
        }
        try:
            while asked in waiting:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:  # what ends from now on was ended by us
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def asked_to_stop(processes: Processes) -> None:
    """Wait for Ctrl-C or a signal; the second one does not wait for anybody."""
    asked = asyncio.Event()

    def hear() -> None:
        if asked.is_set():
            processes.kill()
        else:
            say("\nreelroom: Stopping.")
            asked.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` leaves it
        numbers.append(signal.SIGHUP)
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, hear)
    await asked.wait()


async def begin(place: Place, processes: Processes, socket: Path, started: float) -> None:
    """Everything in its order, as much at once as the order allows."""
    environ = place.environment(place.redis or f"unix://{socket}")
    if place.redis is None:
        await processes.start("valkey", valkey.command(socket), environ)
    if place.upstream is None:
        await processes.start("sandbox", sandbox(place), environ)
    if place.redis is None:
        await until("Valkey does not answer", lambda: valkey.answers(socket))
    await processes.start("prepare", PREPARE, environ)
    code = await processes.finished("prepare")
    if code:
        raise Unable(f"The preparation failed ({ending(code)}); its last lines say why.")
    await processes.start("web", web(place), environ)
    await processes.start("worker", WORKER, environ)
    await processes.start("beat", BEAT, environ)
    if place.redis is None:
        # Asked first, because the portal logs each time that it is not ready.
        await until("No worker has done a tick", lambda: valkey.heard_a_tick(socket))
        await until("The portal is not ready", lambda: welcome.is_ready(place))
        # Last, for nobody waits for it yet, and two cores are busy with the others.
        await processes.start("slow", SLOW, environ | SLOW_POOL)
    else:
        # A Redis that was there before knows since when slow work waits, so the portal asks for it.
        await processes.start("slow", SLOW, environ | SLOW_POOL)
        await until("The portal is not ready", lambda: welcome.is_ready(place))
    say(welcome.text(place, time.monotonic() - started))


def sandbox(place: Place) -> list[str]:
    var, port = place.var, str(place.sandbox_port)
    files = ("--db", str(var / "sandbox.sqlite3"), "--media-dir", str(var / "sandbox-media"))
    return [*PYTHON, "proxyapi.sandbox", "--port", port, *files]


def web(place: Place) -> list[str]:
    patience = ("--timeout-graceful-shutdown", "5")  # streams stay open as long as they may
    # Longer than proxies and browsers keep a connection: a press on one that is closed is lost.
    kept = ("--timeout-keep-alive", "75")
    quiet = ("--lifespan", "off", "--no-access-log", "--log-level", "warning")
    return [*WEB, "--port", str(place.port), *patience, *kept, *quiet]


async def until(otherwise: str, holds: Callable[[], Awaitable[bool]]) -> None:
    try:
        async with asyncio.timeout(READY_SECONDS):
            while not await holds():
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise Unable(f"{otherwise} after {READY_SECONDS} s.") from None


if __name__ == "__main__":
    sys.exit(main())
