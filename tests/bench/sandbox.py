"""The sandbox's figures: reading and changing a video, in a small world and in a large one.

Each figure is the median of several runs, the two worlds taking turns. In-process figures are
of one core; over HTTP the sandbox has one core and its client the other.
"""

from __future__ import annotations

import asyncio
import os
import socket
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psutil
from fastapi import FastAPI

from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.media_makers import PlainMaker
from proxyapi.sandbox.store import Address
from tests.bench.sandbox_worlds import WORLD_LEDGER_ROWS, WORLD_VIDEOS, SavedWorld, save_world
from tests.sandbox.asgi_client import call_app
from tests.sandbox.test_restart import SandboxProcess

RUNS = 5
READS, CHANGES, OVER_HTTP, CONNECTIONS = 2000, 400, 1600, 4
IN_PROCESS, BY_HTTP, SLOWER = 2000, 800, 1 / 3
CORES = sorted(os.sched_getaffinity(0))

Row = tuple[str, str, str, str, bool]


def sandbox_figures(folder: Path) -> list[Row]:
    """Figure, small world, large world, what is wanted, and whether it holds."""
    small = save_world(folder / "small")
    large = save_world(folder / "large", videos=WORLD_VIDEOS, rows=WORLD_LEDGER_ROWS)
    return [*in_process(small, large), *over_http(small, large)]


def in_process(small: SavedWorld, large: SavedWorld) -> list[Row]:
    os.sched_setaffinity(0, CORES[:1])
    try:
        with asyncio.Runner() as loop:
            sides = [SandboxUnderTest(loop, place, _app(place)) for place in (small, large)]
            reads = measure_in_turns(
                [partial(side.seconds_per_call, READS, "GET") for side in sides]
            )
            changes = measure_in_turns(
                [partial(side.seconds_per_call, CHANGES, "PATCH") for side in sides]
            )
            written = [side.rows_of_a_change() for side in sides]
    finally:
        os.sched_setaffinity(0, CORES)
    wall, processor = ([1 / it[place] for it in reads] for place in (0, 1))
    fewer = [1000 * it[1] for it in changes]
    third = "slower by a third at most"
    holds = fewer[1] <= fewer[0] * (1 + SLOWER)
    change = ("saving one change, `PATCH`, of processor time", *_format_pair("{:.2f} ms", fewer))
    rows = ("rows written by one change", *_format_pair("{}", written), "the same")
    return [
        _rate("`GET /faceless/{id}` in-process, by the clock", wall, IN_PROCESS),
        _rate("the same in a second of processor time", processor, IN_PROCESS),
        (*change, third, holds),
        (*rows, written[0] == written[1]),
    ]


def _format_pair(text: str, pair: Sequence[float]) -> tuple[str, str]:
    return text.format(pair[0]), text.format(pair[1])


def measure_in_turns(
    measures: list[Callable[[], tuple[float, float]]],
) -> list[tuple[float, float]]:
    """The medians of each measure, taken in turns so that they share the machine's moods."""
    taken: list[list[tuple[float, float]]] = [[] for _ in measures]
    for _ in range(RUNS):
        for kept, measure in zip(taken, measures, strict=True):
            kept.append(measure())
    return [
        (statistics.median(it[0] for it in kept), statistics.median(it[1] for it in kept))
        for kept in taken
    ]


def _rate(name: str, rates: list[float], least: int) -> Row:
    holds = min(rates) >= least and rates[1] >= rates[0] * (1 - SLOWER)
    wanted = f"at least {least:,}/s, slower by a third at most"
    return (name, f"{rates[0]:,.0f}/s", f"{rates[1]:,.0f}/s", wanted, holds)


def _app(place: SavedWorld) -> FastAPI:
    return create_app(
        media_dir=place.folder / "media", db=place.folder / "world.sqlite3", maker=PlainMaker()
    )


class SandboxUnderTest(NamedTuple):
    loop: asyncio.Runner
    place: SavedWorld
    app: FastAPI

    def seconds_per_call(self, count: int, method: str) -> tuple[float, float]:
        """Seconds for one call: by the clock, and of processor time."""
        return self.loop.run(self._take(count, method))

    async def _take(self, count: int, method: str) -> tuple[float, float]:
        started, worked = time.perf_counter(), time.process_time()
        for number in range(count):
            body = None if method == "GET" else {"title": f"Title {number}"}
            heard = await call_app(
                self.app, method, self.place.path, token=self.place.token, body=body
            )
        assert heard.status == 200
        took = time.perf_counter() - started, time.process_time() - worked
        return took[0] / count, took[1] / count

    def rows_of_a_change(self) -> int:
        """How many rows one change sends to the file; the file is closed afterwards."""
        store = self.app.state.world.store
        counted: list[int] = []
        write = store.write

        def counting(rows: Mapping[Address, str | None], *, clear: bool = False) -> None:
            counted.append(len(rows))
            write(rows, clear=clear)

        store.write = counting
        self.seconds_per_call(1, "PATCH")
        store.close()
        return sum(counted)


def over_http(small: SavedWorld, large: SavedWorld) -> list[Row]:
    starts: list[list[float]] = [[], []]
    servers = [SandboxProcess(place.folder) for place in (small, large)]
    for _ in range(RUNS):
        for server, kept in zip(servers, starts, strict=True):
            kept.append(server.start())
            server.kill()
    try:
        for server in servers:
            server.start()
            os.sched_setaffinity(server.process.pid, CORES[:1])
        os.sched_setaffinity(0, CORES[-1:])
        pairs = list(zip(servers, (small, large), strict=True))
        rates = measure_in_turns([partial(_requests, *it) for it in pairs])
    finally:
        os.sched_setaffinity(0, CORES)
        for server in servers:
            server.kill()
    wall, processor = ([1 / it[place] for it in rates] for place in (0, 1))
    told = _format_pair("{:.2f} s", [statistics.median(it) for it in starts])
    return [
        _rate("`GET /faceless/{id}` over HTTP, by the clock", wall, BY_HTTP),
        _rate("the same in a second of the sandbox's processor time", processor, BY_HTTP),
        ("from start to first answer", *told, "", True),
    ]


def _requests(server: SandboxProcess, place: SavedWorld) -> tuple[float, float]:
    """Seconds for one request over a few connections that are kept open: by the clock, and of
    the sandbox's processor time."""
    times = psutil.Process(server.process.pid).cpu_times
    worked = sum(times()[:2])
    crowd = [threading.Thread(target=_connection, args=(server, place)) for _ in range(CONNECTIONS)]
    started = time.perf_counter()
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    took = time.perf_counter() - started
    return took / OVER_HTTP, (sum(times()[:2]) - worked) / OVER_HTTP


def _connection(server: SandboxProcess, place: SavedWorld) -> None:
    head = f"GET {place.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {place.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        for _ in range(OVER_HTTP // CONNECTIONS):
            line.sendall(head.encode())
            _whole_answer(line)


def _whole_answer(line: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += line.recv(65536)
    told, _, body = data.partition(b"\r\n\r\n")
    assert told.startswith(b"HTTP/1.1 200"), told
    length = int(told.lower().partition(b"content-length:")[2].split()[0])
    while len(body) < length:
        body += line.recv(65536)
