"""The alert rules of a new team, so that the first alerts need no setup."""

from __future__ import annotations

from decimal import Decimal

from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertRule, Team


def create_default_rules(team: Team) -> None:
    """Create the default rules that the team does not have yet; existing rules stay unchanged."""
    rows = [
        AlertRule(team=team, kind=spec.kind, threshold=Decimal(threshold))
        for spec in ALERT_KINDS.values()
        for threshold in spec.default_thresholds
    ]
    AlertRule.objects.bulk_create(rows, ignore_conflicts=True)
