"""Differences that somebody let go: who, when, why, from the audit log.

A part of its own, fetched after the page, whose twelve queries are spent without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.models import AuditEvent, Team
from proxyapi.models import Account

MAX_ACCEPTED_DIFFERENCES = 20


@dataclass(frozen=True, slots=True)
class AcceptedDifference:
    """A difference that somebody let go when they set the opening balance anew."""

    at: datetime
    who: str
    amount: Decimal
    why: str


def load_accepted_differences(team: Team, account: Account) -> tuple[AcceptedDifference, ...]:
    """The newest first, from the audit log. One query."""
    events = AuditEvent.objects.filter(team=team, action="ledger.anchor", target=str(account.pk))
    rows = events.select_related("actor").order_by("-happened_at")[:MAX_ACCEPTED_DIFFERENCES]
    return tuple(
        AcceptedDifference(
            at=row.happened_at,
            who=str(row.actor),
            amount=Decimal(row.details.get("difference") or 0),
            why=str(row.details.get("reason") or ""),
        )
        for row in rows
    )
