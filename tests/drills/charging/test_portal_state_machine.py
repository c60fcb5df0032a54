"""Lives of the portal's engine against the sandbox, 50 steps each, the books after every step.

In the hour with all other drills there is time for fifteen on each database. A night has room for
2,000 with `DRILL_LIVES=1000 DRILL_MINUTES=600` and this file alone. The figure says how many there
were.
"""

from __future__ import annotations

import os
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.state_machine_runs import run_state_machine
from tests.settings import ON_POSTGRES

LIVES, STEPS = int(os.environ.get("DRILL_LIVES", "15")), 50
SECONDS = 60 * float(os.environ.get("DRILL_MINUTES", "50"))
TOGETHER = 25  # lives of one seed; the next ones have the next number


@pytest.mark.django_db(transaction=True)
def test_no_run_charges_twice_or_unbalances_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, told, wrong = Figures(f"lives of the engine, {database}"), dict[str, int](), ""
    number, until = figures.seed, time.monotonic() + SECONDS
    try:
        with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
            while told.get("lives", 0) < LIVES and time.monotonic() < until:
                runs = min(TOGETHER, LIVES - told.get("lives", 0))
                run_state_machine(sandbox, monkeypatch, told, runs=runs, steps=STEPS, number=number)
                number += 1
    except Exception as error:  # told as a figure, with the steps that lead to it
        notes = getattr(error, "__notes__", [])
        wrong = f"{type(error).__name__} in DRILL_SEED={number}: {error}".splitlines()[0]
        print("\n".join([*traceback.format_exception(error), *notes]))
    print("  " + ", ".join(f"{told[name]} {name}" for name in sorted(told)))
    figures.report(
        f"{told.get('charges', 0)} charges, {told.get('deaths', 0)} deaths, {told.get('steps', 0)} "
        f"steps, the books balanced after each: {wrong or 'no law broken'}",
        "none",
        holds=not wrong and told.get("charges", 0) > 0,
    )
    lives = told.get("lives", 0)
    figures.report(
        f"{lives} lives of {STEPS} steps at most, in {SECONDS / 60:.0f} min at most",
        f"{LIVES} (a night: 1000 on each database)",
        holds=lives >= LIVES,
    )
    figures.close()
