"""Start Valkey, sandbox, workers, beat and web server, print how to sign in, and stop them
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
    *(*CELERY_COMMAND, "worker", "--loglevel", "WARNING"),
    *("--queues", "work", "--concurrency", "2"),
)
# A service that does not answer must delay no other charge: one thread for each that waits.
CHARGES_WORKER_COMMAND = (
    *(*CELERY_COMMAND, "worker", "--loglevel", "WARNING", "--hostname", "charges@%h"),
    *("--queues", "charges", "--pool", "threads", "--concurrency", "64"),
)
# What else waits: four queues in one process of threads, which takes from each in turn. On larger
# sites they have a process each (docker-compose.yml).
SLOW_WORKER_COMMAND = (
    *(*CELERY_COMMAND, "worker", "--loglevel", "WARNING", "--hostname", "slow@%h"),
    *("--queues", "settlement,polls,post,slow", "--pool", "threads", "--concurrency", "32"),
)
WORKERS = {
    "worker": WORKER_COMMAND,
    "charges": CHARGES_WORKER_COMMAND,
    "slow": SLOW_WORKER_COMMAND,
}
BEAT_COMMAND = (*CELERY_COMMAND, "beat", "--loglevel", "WARNING")
# Without --no-proxy-headers uvicorn believes X-Forwarded-For of whoever connects from loopback, and
# each forged address would have its own limit of wrong passwords. TRUSTED_PROXIES alone decides.
WEB_COMMAND = (
    *(*PYTHON_MODULE, "uvicorn", "dashboard.asgi:application", "--host", LOOPBACK),
    "--no-proxy-headers",
)


def main() -> int:
    started = time.monotonic()
    try:
        installation = Installation.from_environ(os.environ)
        with installation.acquire_lock() as lock:
            installation.check_ports()
            installation.ensure_secrets()
            installation.write_address_file()
            with valkey.valkey_socket(installation.var) as socket:
                asyncio.run(run_until_stopped(installation, lock, socket, started))
    except SetupError as reason:
        print(f"reelroom: {reason}", file=sys.stderr)
        return 1
    return 0


async def run_until_stopped(
    installation: Installation, lock: IO[str], socket: Path, started: float
) -> None:
    """Return after a stop signal; raise `SetupError` if a program cannot be kept running."""
    async with ProcessGroup(lock) as processes:
        tasks = pending = {
            stop_signal := asyncio.create_task(wait_for_stop_signal(processes)),
            asyncio.create_task(processes.keep_running()),
            asyncio.create_task(start_programs(installation, processes, socket, started)),
        }
        try:
            while stop_signal in pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
        finally:  # programs that end from now on are stopped by this process
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def wait_for_stop_signal(processes: ProcessGroup) -> None:
    """Wait for Ctrl-C or a signal; a second one kills all programs at once."""
    stop_requested = asyncio.Event()

    def hear() -> None:
        if stop_requested.is_set():
            processes.kill()
        else:
            print_line("\nreelroom: Stopping.")
            stop_requested.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as `nohup` leaves it
        numbers.append(signal.SIGHUP)
    for number in numbers:
        asyncio.get_running_loop().add_signal_handler(number, hear)
    await stop_requested.wait()


async def start_programs(
    installation: Installation, processes: ProcessGroup, socket: Path, started: float
) -> None:
    """Start the programs in the required order, as many in parallel as it allows."""
    environ = installation.environment(installation.redis or f"unix://{socket}")
    if installation.redis is None:
        await processes.start("valkey", valkey.valkey_command(socket), environ)
    if installation.upstream is None:
        await processes.start("sandbox", sandbox_command(installation), environ)
    if installation.redis is None:
        await wait_until("Valkey does not answer", lambda: valkey.is_valkey_ready(socket))
    await processes.start("prepare", PREPARE_COMMAND, environ)
    code = await processes.wait_for_exit("prepare")
    if code:
        raise SetupError(f"The prepare command failed ({describe_exit(code)}); see its last lines.")
    await processes.start("web", web_command(installation), environ)
    await processes.start("worker", WORKER_COMMAND, environ)
    await processes.start("beat", BEAT_COMMAND, environ)
    if installation.redis is None:
        # Checked first, because the portal logs every request while it is not ready.
        await wait_until("No worker has run a task", lambda: valkey.has_worker_ticked(socket))
        await wait_until("The portal is not ready", lambda: is_portal_ready(installation))
    # Last, because they are not needed yet and the others keep two cores busy.
    for name in ("charges", "slow"):
        await processes.start(name, WORKERS[name], environ)
    if installation.redis is not None:
        # An existing Redis may hold old messages, whose age readiness reports until they are taken.
        await wait_until("The portal is not ready", lambda: is_portal_ready(installation))
    processes.is_ready = True
    print_line(welcome_text(installation, time.monotonic() - started))


def sandbox_command(installation: Installation) -> list[str]:
    var, port = installation.var, str(installation.sandbox_port)
    files = ("--db", str(var / "sandbox.sqlite3"), "--media-dir", str(var / "sandbox-media"))
    return [*PYTHON_MODULE, "proxyapi.sandbox", "--port", port, *files]


def web_command(installation: Installation) -> list[str]:
    shutdown_options = ("--timeout-graceful-shutdown", "5")  # seconds; event streams stay open
    # Longer than proxies and browsers keep a connection: a request on a closed one is lost.
    keep_alive_options = ("--timeout-keep-alive", "75")
    log_options = ("--lifespan", "off", "--no-access-log", "--log-level", "warning")
    return [
        *WEB_COMMAND,
        "--port",
        str(installation.port),
        *shutdown_options,
        *keep_alive_options,
        *log_options,
    ]


async def wait_until(problem: str, condition: Callable[[], Awaitable[bool]]) -> None:
    try:
        async with asyncio.timeout(READY_TIMEOUT_S):
            while not await condition():
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise SetupError(f"{problem} after {READY_TIMEOUT_S} s.") from None


async def is_portal_ready(installation: Installation) -> bool:
    return await asyncio.to_thread(is_readyz_ok, installation.port)


def is_readyz_ok(port: int) -> bool:
    """True if `/readyz` returns 200. The request ignores a proxy in the environment."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def welcome_text(installation: Installation, seconds: float) -> str:
    lines = [
        "",
        f"Reelroom is ready after {seconds:.1f} s:  {installation.portal_url}",
        *demo_sign_in_lines(installation),
        "",
    ]
    return "\n".join([*lines, "Press Ctrl-C to stop.", ""])


def demo_sign_in_lines(installation: Installation) -> list[str]:
    """One sign-in per role of the demo team."""
    demo, portal = installation.var / "demo.json", installation.portal_url
    if not demo.is_file():
        return [
            "",
            f"There is no demo team. If nobody has an account yet, open {portal}/setup/ and enter",
            "the set-up code above. It is valid until the next start, for a day at most.",
        ]
    by_role = {
        person["role"]: person for person in reversed(json.loads(demo.read_text())["people"])
    }
    rows = [f"  {p['role']:<10} {p['email']:<32} {p['password']}" for p in by_role.values()]
    return ["", f"Sign in as a member of the demo team (all are in {demo}):", *reversed(rows)]


if __name__ == "__main__":
    sys.exit(main())
