"""a2, a small draw: real processes die with -9 on the way of a charge, and others take over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.drills.charging.hands import Hands, foundry
from tests.drills.charging.test_kills import one_round
from tests.proxyapi.money.stage import Stage
from tests.proxyapi.money.verdict import Verdict


@pytest.fixture
def hands(transactional_db: None, sandbox: str, stage: Stage) -> Iterator[Hands]:
    with foundry(sandbox) as hands:
        yield hands


@pytest.mark.slow
def test_law_2_holds_when_processes_are_killed(stage: Stage, hands: Hands) -> None:
    """Slow: each round starts and kills real processes."""
    verdict = Verdict()
    for point in ("intent", "sent", "answered", "reconcile"):
        assert one_round(stage, hands, point, "text_to_video.create", verdict)
    verdict.weigh(stage, "kills")
    assert verdict.problems == []
