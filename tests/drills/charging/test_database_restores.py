"""A database that goes back in time: every operation × 25 restorations, on each database.

A restoration is a backup at one point of a charge's life, put back at a later one, in one of four
ways (`tests.proxyapi.money.database_restores`). Under a simulated clock.
"""

from __future__ import annotations

import os
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.database_restores import (
    RESTORE_KINDS,
    RestoreTally,
    order_with_restore,
    point_pairs,
)
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.settings import ON_POSTGRES

ROUNDS = int(os.environ.get("DRILL_RESTORES", "25"))  # of each operation
ONLY = os.environ.get("DRILL_OPERATIONS", "")


@pytest.mark.drill
@pytest.mark.django_db(transaction=True)
def test_no_restoration_pays_twice_or_loses_a_charge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, found = Figures(f"databases that went back in time, {database}"), RestoreTally()
    draw = random.Random(figures.seed)  # noqa: S311 - repeatable, and no secret
    every = [(*points, way) for points, way in product(point_pairs(), RESTORE_KINDS)]
    operations = ONLY.split(",") if ONLY else list(INTENT_MAKERS)
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        for operation in operations:
            for taken_at, put_back_at, way in draw.sample(every, ROUNDS):
                order_with_restore(sandbox, operation, taken_at, put_back_at, way, found)
    wanted = ROUNDS * len(operations)
    figures.report(
        f"{len(found.wrong)} of {found.rounds} charges paid twice, lost or unexplained "
        f"({found.settled} settled, {found.to_a_person} left to a person)",
        f"0 of {wanted}",
        holds=not found.wrong and found.rounds == wanted,
        found=found.wrong,
    )
    figures.close()
