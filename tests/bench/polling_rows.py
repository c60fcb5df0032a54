"""The portal's polling with its own rows, compared with its selection alone.

The same simulated worlds twice: with real rows, ticks and polls that start without known durations,
and with selection and rate limiter alone that start with them. The time until both know enough is
not counted.
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
    "jobs", "bound, s", "the portal, s", "by chance, ±", "selection alone, s", "own 429s",
    "most in 60 s", "a person waits p50 · p95, s", "polls/min", "wanted", "",
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
    held = [print_row(portal, alone) for portal, alone in run_pair(folder, seed)]
    print(f"\nSeed {seed} (BENCH_SEED={seed} repeats it).\n")
    return all(held)


def run_pair(folder: Path, seed: int) -> Iterator[tuple[RunResult, RunResult]]:
    with portal_site(folder) as store:
        from tests.bench.polling.database_rows import DatabasePoller

        for jobs, learning in LEARNING_S.items():
            seconds = learning + COUNTED_S[jobs]
            with pytest.MonkeyPatch.context() as patch:
                portal = simulate_poller(
                    "rows", jobs, seconds, seed, partial(DatabasePoller, patch, store), learning
                )
            yield portal, run_poller(store, "learned", jobs, seconds, seed, learning)


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


def print_row(portal: RunResult, alone: RunResult) -> bool:
    most = LEARNED_AT[portal.jobs]
    holds = portal.ratio <= most and not portal.refusals and portal.late_wait <= PATIENCE
    cells = (
        str(portal.jobs),
        f"{portal.bound:.1f}",
        f"{portal.lag:.1f} ({portal.ratio:.2f})",
        f"{portal.chance / portal.bound:.3f}",
        f"{alone.lag:.1f} ({alone.ratio:.2f})",
        str(portal.refusals),
        str(portal.most),
        f"{portal.median_wait:.1f} · {portal.late_wait:.1f}",
        f"{portal.looks_a_minute:.0f}",
        f"≤ {most}, 429s 0, {LIMIT} in 60 s, p95 ≤ {PATIENCE:.0f}",
        "ok" if holds and portal.most <= LIMIT else "FALLS SHORT",
    )
    print(f"| {' | '.join(cells)} |", flush=True)
    return holds and portal.most <= LIMIT


if __name__ == "__main__":
    sys.exit(not polling_figures(Path(sys.argv[1])))
