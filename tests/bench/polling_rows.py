"""Watching as the house does it, beside its choice alone: does what it learns by itself do as much?

The same worlds twice: with real rows, ticks and looks that begin without experience, and with the
choice and the bucket alone that begin with it. What comes before both know enough is not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import django
import pytest
import redis
from django.core.management import call_command

from proxyapi import redis_client
from tests.bench.polling.runs import RunResult, new_seed, run_poller, simulate_poller
from tests.bench.polling.table import LEARNED_AT, PATIENCE

HOUR = 3600.0
LEARNING_S = {10: 2 * HOUR, 25: HOUR}  # simulated seconds, by jobs, that are not counted
COUNTED_S = {10: 6 * HOUR, 25: 3 * HOUR}
LIMIT = 30
HEADS = (
    "jobs", "bound, s", "the house, s", "by chance, ±", "its choice alone, s", "own 429s",
    "most in 60 s", "a person waits p50 · p95, s", "looks/min", "wanted", "",
)  # fmt: skip


def main(folder: Path) -> bool:
    """In a process of its own: the settings of the tests are nobody else's."""
    return (
        subprocess.run([sys.executable, "-m", "tests.bench.polling_rows", folder]).returncode == 0
    )


def polling_figures(folder: Path) -> bool:
    """Print the table; whether every figure is what is wanted."""
    seed = int(os.environ.get("BENCH_SEED") or new_seed())
    for cells in (HEADS, ["---"] * len(HEADS)):
        print(f"| {' | '.join(cells)} |")
    held = [print_row(house, alone) for house, alone in run_pair(folder, seed)]
    print(f"\nSeed {seed} (BENCH_SEED={seed} repeats it).\n")
    return all(held)


def run_pair(folder: Path, seed: int) -> Iterator[tuple[RunResult, RunResult]]:
    with portal_site(folder) as store:
        from tests.bench.polling.database_rows import DatabasePoller

        for jobs, learning in LEARNING_S.items():
            seconds = learning + COUNTED_S[jobs]
            with pytest.MonkeyPatch.context() as patch:
                house = simulate_poller(
                    "rows", jobs, seconds, seed, partial(DatabasePoller, patch, store), learning
                )
            yield house, run_poller(store, "learned", jobs, seconds, seed, learning)


@contextmanager
def portal_site(folder: Path) -> Iterator[redis.Redis]:
    """The portal's own rows, of this process alone, and their Redis."""
    (folder / "site.sqlite3").unlink(missing_ok=True)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.settings", "REELROOM_TEST_DIR": str(folder)}
    django.setup()
    call_command("migrate", verbosity=0)
    from tests.servers import start_valkey

    stop = start_valkey()
    try:
        yield redis_client.connect_redis()
    finally:
        stop()


def print_row(house: RunResult, alone: RunResult) -> bool:
    most = LEARNED_AT[house.jobs]
    holds = house.ratio <= most and not house.refusals and house.late_wait <= PATIENCE
    cells = (
        str(house.jobs),
        f"{house.bound:.1f}",
        f"{house.lag:.1f} ({house.ratio:.2f})",
        f"{house.chance / house.bound:.3f}",
        f"{alone.lag:.1f} ({alone.ratio:.2f})",
        str(house.refusals),
        str(house.most),
        f"{house.median_wait:.1f} · {house.late_wait:.1f}",
        f"{house.looks_a_minute:.0f}",
        f"≤ {most}, 429s 0, {LIMIT} in 60 s, p95 ≤ {PATIENCE:.0f}",
        "ok" if holds and house.most <= LIMIT else "FALLS SHORT",
    )
    print(f"| {' | '.join(cells)} |", flush=True)
    return holds and house.most <= LIMIT


if __name__ == "__main__":
    sys.exit(not polling_figures(Path(sys.argv[1])))
