"""A database that goes back in time: every operation × 25 restorations, on each database.

A restoration is a backup at one point of a charge's life, put back at a later one, in one of four
ways (`tests.proxyapi.money.restores`). Under a simulated clock.
"""

from __future__ import annotations

import os
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.indoors import indoors
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.restores import WAYS, Restores, pairs, restored
from tests.settings import ON_POSTGRES

ROUNDS = int(os.environ.get("DRILL_RESTORES", "25"))  # of each operation
ONLY = os.environ.get("DRILL_OPERATIONS", "")


@pytest.mark.drill
@pytest.mark.django_db(transaction=True)
def test_no_restoration_pays_twice_or_loses_a_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, found = Figures(f"databases that went back in time, {database}"), Restores()
    draw = random.Random(figures.seed)  # noqa: S311 - repeatable, and no secret
    every = [(*points, way) for points, way in product(pairs(), WAYS)]
    operations = ONLY.split(",") if ONLY else list(OPERATIONS)
    with indoors(tmp_path, monkeypatch, settings) as house:
        for operation in operations:
            for taken_at, put_back_at, way in draw.sample(every, ROUNDS):
                restored(house, operation, taken_at, put_back_at, way, found)
    wanted = ROUNDS * len(operations)
    figures.tell(
        f"{len(found.wrong)} of {found.rounds} charges paid twice, lost or unexplained "
        f"({found.settled} settled, {found.to_a_person} left to a person)",
        f"0 of {wanted}",
        holds=not found.wrong and found.rounds == wanted,
        found=found.wrong,
    )
    figures.close()
