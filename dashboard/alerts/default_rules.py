"""The rules a team begins with. Nobody has to set an alert up before the first one matters."""

from __future__ import annotations

from decimal import Decimal

from dashboard.models import AlertKind, AlertRule, Team

DEFAULT_RULES: tuple[tuple[AlertKind, int], ...] = (
    (AlertKind.BALANCE, 1000),
    (AlertKind.BALANCE, 200),
    (AlertKind.FORECAST, 7),
    (AlertKind.BUDGET, 0),
    (AlertKind.APPROVAL_REQUEST, 0),
    (AlertKind.TOP_UP_FAILED, 1),
    (AlertKind.TOP_UP_OFF, 0),
    (AlertKind.UNKNOWN_CHARGE, 15),
    (AlertKind.RECONCILIATION, 0),
)


def create_default_rules(team: Team) -> None:
    """Safe to repeat: what is there stays as it is."""
    rows = [
        AlertRule(team=team, watch=watch, threshold=Decimal(threshold))
        for watch, threshold in DEFAULT_RULES
    ]
    AlertRule.objects.bulk_create(rows, ignore_conflicts=True)
