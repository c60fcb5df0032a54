"""Print the table and draw the plot: `python -m tests.bench polling`."""

from __future__ import annotations

import os
from pathlib import Path

from tests.bench.polling import plot, table
from tests.bench.polling.runs import (
    JOBS,
    POLLER_NAMES,
    RunResult,
    new_seed,
    private_store,
    run_poller,
)

PLOT = Path(__file__).parents[3] / "docs" / "img" / "polling.svg"
HOUR = 3600.0
# Before each of the two limiters: each figure is a mean of a thousand ends or more.
SIMULATED_HOURS = {1: 45.0, 5: 12.0, 10: 16.0, 25: 4.0, 50: 3.0, 100: 3.0}


def main() -> bool:
    """Whether every figure is what is wanted."""
    given = os.environ.get("BENCH_SEED")
    seed = int(given) if given else new_seed()
    results: list[RunResult] = []
    with private_store() as store:
        for jobs in JOBS:
            results += [
                run_poller(store, way, jobs, SIMULATED_HOURS[jobs] * HOUR, seed)
                for way in POLLER_NAMES
            ]
    for text in table.table_lines(results, seed, SIMULATED_HOURS):
        print(text, flush=True)
    plot.write_plot(results, PLOT)
    of = [{it.way: it for it in results if it.jobs == jobs} for jobs in JOBS]
    return not any(table.missed_figures(one) for one in of)
