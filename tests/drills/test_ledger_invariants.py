"""1,000 random ledgers of 50 steps, a night DRILL_RUNS=2000: the sums agree after every step."""

from __future__ import annotations

import asyncio
import os

from tests.drills.figures import Figures
from tests.sandbox.test_ledger_invariants import run

RUNS, STEPS = int(os.environ.get("DRILL_RUNS", "1000")), 50


def test_a_thousand_lives(tmp_path):
    figures, wrong = Figures("books"), ""
    try:
        with asyncio.Runner() as loop:
            run(tmp_path, loop, runs=RUNS, steps=STEPS, number=figures.seed)
    except Exception as error:  # told as a figure, with the steps that lead to it
        wrong = "\n".join([repr(error), *getattr(error, "__notes__", [])])
        print(wrong)
    balanced = "none out of balance" if not wrong else "one out of balance"
    figures.report(f"{RUNS} runs of {STEPS} steps, {balanced}", "none", holds=not wrong)
    figures.close()
