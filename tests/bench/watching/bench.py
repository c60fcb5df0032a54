"""Print the table and draw the plot: `python -m tests.bench watching`."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench.watching import plot, table
from tests.bench.watching.runs import JOBS, WAYS, Result, new_seed, private_store, run

PLOT = Path(__file__).parents[3] / "docs" / "img" / "watching.svg"
HOUR = 3600.0
# Before each of the two limiters: each figure is a mean of a thousand ends or more.
HOURS = {1: 45.0, 5: 12.0, 10: 16.0, 25: 4.0, 50: 3.0, 100: 3.0}


def main() -> bool:
    """Whether every figure is what is wanted."""
    given = os.environ.get("BENCH_SEED")
    seed = int(given) if given else new_seed()
    results: list[Result] = []
    with private_store() as store:
        for jobs in JOBS:
            results += [run(store, way, jobs, HOURS[jobs] * HOUR, seed) for way in WAYS]
    for text in table.lines(results, seed, HOURS):
        print(text, flush=True)
    plot.write(results, PLOT)
    of = [{it.way: it for it in results if it.jobs == jobs} for jobs in JOBS]
    return not any(table.missing(one) for one in of)
