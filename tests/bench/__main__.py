"""`make bench`: prints the figures as Markdown, with the load of the machine beforehand.

With arguments only the parts that they name: `polling`, `rows`, `sandbox`, `start`, `live`,
`streams`, `events`, `members`, `gateway`, `addresses`, `accounts`, `ledger`. What is seeded is
kept, for the next time, in the folder that BENCH_FOLDER names.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from tests.bench import (
    event_streams,
    gateway,
    idle_accounts,
    known_addresses,
    ledger,
    polling_rows,
    portal_start,
    push_latency,
    sandbox,
    stream_ends,
    streams,
)
from tests.bench.polling import bench

HEADS = ("figure", "one video", "10,000 videos, 100,000 ledger rows", "wanted", "")


def main() -> int:
    chosen = sys.argv[1:] or list(PARTS)
    if unknown := [name for name in chosen if name not in PARTS]:
        print(f"There is no part {unknown[0]!r}. The parts: {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    loads = ", ".join(f"{load:.2f}" for load in os.getloadavg())
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, load before: {loads}\n")
    kept = os.environ.get("BENCH_FOLDER", "")
    with nullcontext(kept) if kept else tempfile.TemporaryDirectory(prefix="reelroom-") as folder:
        held = [PARTS[name](Path(folder)) for name in chosen]
    return 0 if all(held) else 1


def bench_sandbox(folder: Path) -> bool:
    rows = sandbox.sandbox_figures(folder)
    for cells in (HEADS, ["---"] * len(HEADS)):
        print(f"| {' | '.join(cells)} |")
    for *cells, holds in rows:
        print(f"| {' | '.join([*cells, 'ok' if holds else 'FALLS SHORT'])} |", flush=True)
    print(f"\nMedians of {sandbox.RUNS} runs, the two worlds taking turns.\n")
    return all(row[-1] for row in rows)


def bench_ledger(folder: Path) -> bool:
    """Seeds four archives, two of them of a million rows: some twenty minutes the first time."""
    heads = ("figure", "10,000 rows", "1,000,000 rows", "wanted", "")
    for cells in (heads, ["---"] * len(heads)):
        print(f"| {' | '.join(cells)} |")
    held = True
    for *cells, holds in ledger.ledger_figures(folder):
        print(f"| {' | '.join([*cells, 'ok' if holds else 'FALLS SHORT'])} |", flush=True)
        held &= holds
    return held


def bench_portal_start(_: Path) -> bool:
    return portal_start.main()


def bench_polling(_: Path) -> bool:
    return bench.main()


PARTS: dict[str, Callable[[Path], bool]] = {
    "polling": bench_polling,
    "rows": polling_rows.main,
    "sandbox": bench_sandbox,
    "start": bench_portal_start,
    "live": push_latency.main,
    "streams": streams.main,
    "events": event_streams.main,
    "members": stream_ends.main,
    "gateway": gateway.main,
    "addresses": known_addresses.main,
    "accounts": idle_accounts.main,
    "ledger": bench_ledger,
}


if __name__ == "__main__":
    sys.exit(main())
