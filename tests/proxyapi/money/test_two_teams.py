"""A small draw of lost answers of two teams on one account: each debit is one charge's."""

from __future__ import annotations

import os
from random import Random

import pytest

from proxyapi import rate_limiter
from tests.proxyapi.money.stage import Stage
from tests.proxyapi.money.two_teams import joined_by_another_team, play, weigh
from tests.proxyapi.money.verdict import Verdict

SEED = os.environ.get("DRILL_SEED", "19")


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_no_debit_settles_charges_of_two_teams(
    number: int, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slow: answers are waited for in vain."""
    monkeypatch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)
    verdict, chance = Verdict(), Random(f"{SEED}/{number}")  # noqa: S311
    with joined_by_another_team(stage) as other:
        for _ in range(3):
            play((stage, other), chance, verdict)
        weigh((stage, other), verdict)
    assert verdict.problems == []
    assert verdict.charges == 6
