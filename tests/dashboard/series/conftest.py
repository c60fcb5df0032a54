"""A series of Priya's, in a team that rendered videos like those of its topics."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership, Preset, Series
from dashboard.series import actions
from dashboard.series.actions import run_series
from proxyapi.models import Token
from tests.dashboard.batches import conftest as batches

account, token, history = batches.account, batches.token, batches.history  # the fixtures
BERLIN = "Europe/Berlin"


def make_series(by: Membership, *topics: str, **fields: Any) -> Series:
    preset, _ = Preset.objects.get_or_create(
        team=by.team, name="Noir", type="ai-visuals", created_by=by.user
    )
    series = Series(team=by.team, member=by.user)
    settings = {
        "name": "Lakes",
        "preset": preset,
        "weekdays": [0],
        "at": time(9),
        "time_zone": BERLIN,
        "count": 3,
        "monthly_credits": Decimal(1000),
        "topics": "\n".join(topics),
    }
    return actions.save_series(by=by, series=series, changes={**settings, **fields})


def start(by: Membership, series: Series) -> Series:
    run = actions.load_next_run(series)
    seen, version = run.total.usual, series.version
    actions.resume_series(by=by, series=series, seen=seen, version=version)
    return Series.objects.get(pk=series.pk)


def time_comes(series: Series) -> Series:
    """Its time has come; workers look at it twice."""
    Series.objects.filter(pk=series.pk).update(next_at=timezone.now())
    for _ in range(2):
        run_series(series.pk)
    return Series.objects.get(pk=series.pk)


LAKES = [f"What is lake {number}?" for number in range(1, 8)]


@pytest.fixture
def lakes(history: Token, priya: Membership) -> Series:
    """Seven topics, three each time, of up to 131 credits each; it runs."""
    return start(priya, make_series(priya, *LAKES))
