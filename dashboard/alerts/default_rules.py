"""The rules a team begins with. Nobody has to set an alert up before the first one matters."""

from __future__ import annotations

from decimal import Decimal

from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertRule, Team


def create_default_rules(team: Team) -> None:
    """Safe to repeat: what is there stays as it is."""
    rows = [
        AlertRule(team=team, kind=spec.kind, threshold=Decimal(threshold))
        for spec in ALERT_KINDS.values()
        for threshold in spec.default_thresholds
    ]
    AlertRule.objects.bulk_create(rows, ignore_conflicts=True)
