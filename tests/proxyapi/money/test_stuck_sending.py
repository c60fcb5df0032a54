"""A small draw: a charge left in `sending` is settled or told within a quarter of an hour."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.stuck_sending import (
    CONDITIONS,
    FAILPOINTS,
    SettlementAges,
    age_stuck_charge,
)

SEED = int(os.environ.get("DRILL_SEED", "9"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAWN = CHANCE.sample(list(CONDITIONS), 1)
DRAW = [(CHANCE.choice(sorted(INTENT_MAKERS)), CHANCE.choice(FAILPOINTS), it) for it in DRAWN]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_charge_left_in_sending_never_just_grows_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Slow: a quarter of an hour, simulated."""
    ages = SettlementAges()
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        for operation, death, weather in DRAW:
            age_stuck_charge(sandbox, operation, death, weather, ages)
    assert ages.wrong == []
    assert ages.settled + ages.to_a_person == len(DRAW)
    assert ages.longest <= 30
