"""`make bench`: how soon the open stream of a member who was removed, deactivated or signed out
ends.

A real web process checks its streams; another process does to the members what an owner does.
"""

from __future__ import annotations

import random
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.up import valkey
from tests.bench.member_endings import ENDINGS
from tests.bench.streams import open_pages, serve_seeded, web_environment

ROUNDS = 5
MAX_END_S = 5.0  # wanted
END_TIMEOUT_S = 60.0  # seconds until a stream counts as one that does not end
END_OF_ANSWER = b"0\r\n\r\n"  # the last chunk of HTTP/1.1


def main(folder: Path) -> bool:
    """Print the seconds; whether the longest of each is as wanted."""
    folder = folder / "members"
    environ = web_environment(folder, folder / valkey.SOCKET_NAME)
    seed = ("tests.bench.member_endings", "seed", str(ROUNDS))
    with (
        serve_seeded(folder, environ, *seed) as (_, port, _, seeded),
        run_endings(environ) as endings,
    ):
        held = []
        for name in ENDINGS:
            seconds = [measure_end(endings, port, name, *row) for row in seeded[name]]
            held.append(print_ends(name, seconds))
    return all(held)


def measure_end(
    endings: subprocess.Popen[str], port: int, ending: str, member: str, cookie: str
) -> float:
    """Seconds from the act to the end of the member's stream."""
    (page,) = open_pages(port, [cookie])
    page.settimeout(END_TIMEOUT_S)
    time.sleep(random.uniform(0, MAX_END_S))  # noqa: S311 - any moment between two checks
    assert endings.stdin is not None and endings.stdout is not None
    endings.stdin.write(f"{ending}\t{member}\n")
    endings.stdin.flush()
    began = float(endings.stdout.readline())
    wait_for_end(page)
    return time.monotonic() - began


def wait_for_end(page: socket.socket) -> None:
    received = b""
    with page:
        while not received.endswith(END_OF_ANSWER):
            chunk = page.recv(65536)
            if not chunk:
                return
            received = received[-len(END_OF_ANSWER) :] + chunk


def print_ends(ending: str, seconds: list[float]) -> bool:
    slowest = max(seconds)
    holds = slowest <= MAX_END_S
    print(
        f"stream of a {ending} member ends: {slowest:.1f} s at most, median "
        f"{statistics.median(seconds):.1f} s, of {len(seconds)}; "
        f"wanted: at most {MAX_END_S:.0f}: {'ok' if holds else 'FALLS SHORT'}\n",
        flush=True,
    )
    return holds


@contextmanager
def run_endings(environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.bench.member_endings", "run"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environ, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()
