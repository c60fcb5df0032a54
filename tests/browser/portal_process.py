"""The whole portal for browser tests: the processes of `make run`, in a folder of their own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

STOP_TIMEOUT_S = 120
READY_LINE = "Press Ctrl-C to stop."
# What would lead the portal to somebody else's servers, or to the secrets of the tests.
OUTSIDE_VARIABLES = (
    *("DATABASE_URL", "REDIS_URL", "VIDEO_API_BASE_URL", "SECRET_KEY", "ENCRYPTION_KEYS"),
    *("DJANGO_SETTINGS_MODULE", "LOG_LEVEL", "BEHIND_TLS", "DJANGO_ALLOW_ASYNC_UNSAFE"),
)

# The log at its longest is searched for tokens; and an unknown charge settles within seconds.
DEBUG_SETTINGS = {
    "LOG_LEVEL": "DEBUG",
    "CHARGE_BOOKING_GRACE_S": "6",
    "CHARGE_RETRY_INTERVAL_S": "3",  # each look costs two requests of a token's thirty a minute
    "CHARGE_IN_FLIGHT_MAX_S": "2",  # the sandbox gets a request at once
    "DEMO": "empty",  # what a test finds, it has made
}


@dataclass(frozen=True, slots=True)
class DemoPerson:
    name: str
    email: str
    password: str
    role: str


@dataclass(frozen=True, slots=True)
class LivePortal:
    portal: str
    sandbox: str
    people: list[DemoPerson]
    accounts: list[dict[str, str]]
    var: Path
    pid: int
    lines: deque[str]

    def person(self, first_name: str) -> DemoPerson:
        return next(one for one in self.people if one.name.startswith(f"{first_name} "))


def running_portal(
    var: Path, ports: tuple[str, str] | None = None, **more: str
) -> Iterator[LivePortal]:
    """Start it, wait until it says that it is ready, stop it by its id at the end.

    `ports` of portal and sandbox: those of an earlier start in this folder, else any. `more` goes
    into its environment.
    """
    environ = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    port, sandbox_port = ports or free_ports()
    environ |= {"PORT": port, "SANDBOX_PORT": sandbox_port, "REELROOM_VAR": str(var)}
    environ |= DEBUG_SETTINGS | more
    command = [sys.executable, "-m", "dashboard.up"]
    with subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        lines: deque[str] = deque(maxlen=500_000)
        is_ready = collect_output(process.stdout, lines)
        try:
            if (
                not is_ready.result()
            ):  # the supervisor has its own limits, and ends when one is over
                raise AssertionError("the portal did not start:\n" + "\n".join(lines))
            demo = read_demo_file(var, port, sandbox_port)
            people = [DemoPerson(**one) for one in demo.pop("people")]
            yield LivePortal(**demo, people=people, var=var, pid=process.pid, lines=lines)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                process.kill()  # else leaving the context waits without a limit
                raise


# Stops the portal also when its body fails, while the traceback still holds the generator.
portal_context = contextmanager(running_portal)


def read_demo_file(var: Path, port: str, sandbox_port: str) -> dict[str, Any]:
    """Addresses, people and accounts; without the demo only the addresses."""
    file = var / "demo.json"
    if file.is_file():
        return dict(json.loads(file.read_text()))
    portal, sandbox = f"http://localhost:{port}", f"http://127.0.0.1:{sandbox_port}"
    return {"portal": portal, "sandbox": sandbox, "people": [], "accounts": []}


def collect_output(output: IO[str], lines: deque[str]) -> Future[bool]:
    """Keep what it says; answers True once it is ready, False if its output ends before."""
    is_ready: Future[bool] = Future()

    def hear() -> None:
        for line in output:
            lines.append(line.rstrip())
            if READY_LINE in line:
                is_ready.set_result(True)
        if not is_ready.done():
            is_ready.set_result(False)

    threading.Thread(target=hear, daemon=True).start()
    return is_ready


def free_ports() -> tuple[str, str]:
    """Two ports that were free a moment ago."""
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1]), str(other.getsockname()[1])
