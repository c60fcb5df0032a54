"""a12: lives of the portal's engine against the sandbox, 50 steps each, the books after every step.

The full volume is `DRILL_LIVES=2000`; without it a smaller one, half of it on each database.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.indoors import indoors
from tests.proxyapi.money.life import lived
from tests.settings import ON_POSTGRES

FULL = 2000
LIVES, STEPS = int(os.environ.get("DRILL_LIVES", "60")), 50


@pytest.mark.django_db(transaction=True)
def test_no_life_charges_twice_or_unbalances_the_books(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, told, wrong = Figures(f"lives of the engine, {database}"), dict[str, int](), ""
    try:
        with indoors(tmp_path, monkeypatch, settings) as house:
            lived(house, monkeypatch, told, runs=LIVES, steps=STEPS, number=figures.seed)
    except Exception as error:  # told as a figure, with the steps that lead to it
        wrong = "\n".join([repr(error), *getattr(error, "__notes__", [])])
        print(wrong)
    print("  " + ", ".join(f"{told[name]} {name}" for name in sorted(told)))
    broken = "a law was broken" if wrong else "no law broken"
    figures.tell(
        f"{told.get('lives', 0)} lives of {STEPS} steps at most, {told.get('charges', 0)} charges, "
        f"{told.get('deaths', 0)} deaths, {broken}",
        f"none (the full volume is {FULL})",
        holds=not wrong and told.get("lives", 0) >= LIVES,
    )
    figures.close()
