"""a9, a small draw: a charge left in `sending` is settled or told within a quarter of an hour."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.proxyapi.money.indoors import indoors
from tests.proxyapi.money.left_sending import DEATHS, WEATHERS, Ages, grown_old
from tests.proxyapi.money.operations import OPERATIONS

SEED = int(os.environ.get("DRILL_SEED", "9"))
CHANCE = Random(SEED)  # noqa: S311 - not for cryptography: the same seed draws the same
DRAW = [(CHANCE.choice(sorted(OPERATIONS)), CHANCE.choice(DEATHS), it) for it in WEATHERS]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_charge_left_in_sending_never_just_grows_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Slow: five quarters of an hour, simulated."""
    ages = Ages()
    with indoors(tmp_path, monkeypatch, settings) as house:
        for operation, death, weather in DRAW:
            grown_old(house, operation, death, weather, ages)
    assert ages.wrong == []
    assert ages.settled + ages.to_a_person == len(DRAW)
    assert ages.longest <= 30
