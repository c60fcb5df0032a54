"""Starts Valkey, sandbox, workers, beat and web server, says how to sign in, stops them
together."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import IO

from dashboard.up import valkey
from dashboard.up.install import SetupError
from dashboard.up.install_paths import LOOPBACK, Installation
from dashboard.up.processes import ProcessGroup, describe_exit, print_line

READY_TIMEOUT_S = 90
PYTHON_MODULE = (sys.executable, "-m")
PREPARE_COMMAND = (sys.executable, "manage.py", "prepare")
CELERY_COMMAND = (*PYTHON_MODULE, "celery", "--quiet", "-A", "dashboard")
WORKER_COMMAND = (
    *CELERY_COMMAND,
    "worker",
    "--queues",
    "work",
    "--concurrency",
    "3",
    "--loglevel",
    "WARNING",
)
SLOW_WORKER_COMMAND = (
    *(
        *CELERY_COMMAND,
        "worker",
        "--queues",
        "post,slow",
        "--pool",
        "threads",
        "--concurrency",
        "12",
    ),
    *("--hostname", "slow@%h", "--loglevel", "WARNING"),
)
SLOW_WORKER_ENV = {
    "DATABASE_POOL_SIZE": "24"
}  # two connections for a thread: the task's, and signs of life
BEAT_COMMAND = (*CELERY_COMMAND, "beat", "--loglevel", "WARNING")
WEB_COMMAND = (*PYTHON_MODULE, "uvicorn", "dashboard.asgi:application", "--host", LOOPBACK)


def main() -> int:
    started = time.monotonic()
    try:
        place = Installation.from_environ(os.environ)
        with place.acquire_lock() as lock:
            place.check_ports()
            place.ensure_secrets()
            place.write_address_file()
            with valkey.valkey_socket(place.var) as socket:
                asyncio.run(run_until_stopped(place, lock, socket, started))
    except SetupError as reason:
        print(f"reelroom: {reason}", file=sys.stderr)
        return 1
    return 0


async def run_until_stopped(
    place: Installation, lock: IO[str], socket: Path, started: float
) -> None:
    """Returns when somebody asked to stop; raises `SetupError` when something ended by itself."""
    async with ProcessGroup(lock) as processes:
        tasks = waiting = {
            asked := asyncio.create_task(wait_for_stop_signal(processes)),
            asyncio.create_task(processes.raise_on_first_exit()),
            asyncio.create_task(start_programs(place, processes, socket, started)),
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


async def wait_for_stop_signal(processes: ProcessGroup) -> None:
    """Wait for Ctrl-C or a signal; the second one does not wait for anybody."""
    asked = asyncio.Event()

    def hear() -> None:
        if asked.is_set():
            processes.kill()
        else:
            print_line("\nreelroom: Stopping.")
            asked.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` leaves it
        numbers.append(signal.SIGHUP)
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, hear)
    await asked.wait()


async def start_programs(
    place: Installation, processes: ProcessGroup, socket: Path, started: float
) -> None:
    """Everything in its order, as much at once as the order allows."""
    environ = place.environment(place.redis or f"unix://{socket}")
    if place.redis is None:
        await processes.start("valkey", valkey.valkey_command(socket), environ)
    if place.upstream is None:
        await processes.start("sandbox", sandbox_command(place), environ)
    if place.redis is None:
        await wait_until("Valkey does not answer", lambda: valkey.is_valkey_ready(socket))
    await processes.start("prepare", PREPARE_COMMAND, environ)
    code = await processes.wait_for_exit("prepare")
    if code:
        raise SetupError(f"The preparation failed ({describe_exit(code)}); its last lines say why.")
    await processes.start("web", web_command(place), environ)
    await processes.start("worker", WORKER_COMMAND, environ)
    await processes.start("beat", BEAT_COMMAND, environ)
    if place.redis is None:
        # Asked first, because the portal logs each time that it is not ready.
        await wait_until("No worker has done a tick", lambda: valkey.has_worker_ticked(socket))
        await wait_until("The portal is not ready", lambda: is_portal_ready(place))
        # Last, for nobody waits for it yet, and two cores are busy with the others.
        await processes.start("slow", SLOW_WORKER_COMMAND, environ | SLOW_WORKER_ENV)
    else:
        # A Redis that was there before knows since when slow work waits, so the portal asks for it.
        await processes.start("slow", SLOW_WORKER_COMMAND, environ | SLOW_WORKER_ENV)
        await wait_until("The portal is not ready", lambda: is_portal_ready(place))
    print_line(welcome_text(place, time.monotonic() - started))


def sandbox_command(place: Installation) -> list[str]:
    var, port = place.var, str(place.sandbox_port)
    files = ("--db", str(var / "sandbox.sqlite3"), "--media-dir", str(var / "sandbox-media"))
    return [*PYTHON_MODULE, "proxyapi.sandbox", "--port", port, *files]


def web_command(place: Installation) -> list[str]:
    patience = ("--timeout-graceful-shutdown", "5")  # streams stay open as long as they may
    # Longer than proxies and browsers keep a connection: a press on one that is closed is lost.
    kept = ("--timeout-keep-alive", "75")
    quiet = ("--lifespan", "off", "--no-access-log", "--log-level", "warning")
    return [*WEB_COMMAND, "--port", str(place.port), *patience, *kept, *quiet]


async def wait_until(otherwise: str, holds: Callable[[], Awaitable[bool]]) -> None:
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            while not await holds():
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise SetupError(f"{otherwise} after {READY_TIMEOUT_S} s.") from None


async def is_portal_ready(place: Installation) -> bool:
    return await asyncio.to_thread(is_readyz_ok, place.port)


def is_readyz_ok(port: int) -> bool:
    """Whether `/readyz` says 200. Asked directly: a proxy of the environment has no part in it."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def welcome_text(place: Installation, seconds: float) -> str:
    lines = [
        "",
        f"Reelroom is ready after {seconds:.1f} s:  {place.portal_url}",
        *demo_sign_in_lines(place),
        "",
    ]
    return "\n".join([*lines, "Ctrl-C stops everything.", ""])


def demo_sign_in_lines(place: Installation) -> list[str]:
    """One sign-in for each role of the demo team."""
    demo = place.var / "demo.json"
    if not demo.is_file():
        return [
            "",
            "There is no demo team. Make a team: .venv/bin/python manage.py create_team --help",
        ]
    by_role = {
        person["role"]: person for person in reversed(json.loads(demo.read_text())["people"])
    }
    rows = [f"  {p['role']:<10} {p['email']:<32} {p['password']}" for p in by_role.values()]
    return ["", f"Sign in as one of the demo team ({demo} has them all):", *reversed(rows)]


if __name__ == "__main__":
    sys.exit(main())
