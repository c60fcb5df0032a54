"""The rules a team begins with. Nobody has to set an alert up before the first one matters."""

from __future__ import annotations

from decimal import Decimal

from dashboard.models import AlertRule, Team, Watch

USUAL: tuple[tuple[Watch, int], ...] = (
    (Watch.BALANCE, 1000),
    (Watch.BALANCE, 200),
    (Watch.FORECAST, 7),
    (Watch.BUDGET, 0),
    (Watch.ASK, 0),
    (Watch.TOP_UP_FAILED, 1),
    (Watch.TOP_UP_OFF, 0),
    (Watch.UNKNOWN, 15),
    (Watch.BOOKS, 0),
)


def give_usual(team: Team) -> None:
    """Safe to repeat: what is there stays as it is."""
    rows = [
        AlertRule(team=team, watch=watch, threshold=Decimal(threshold))
        for watch, threshold in USUAL
    ]
    AlertRule.objects.bulk_create(rows, ignore_conflicts=True)
