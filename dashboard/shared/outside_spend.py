"""Spend outside the portal by the sources that a team has named, and what of it needs attention."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Count, Max, QuerySet, Sum
from django.db.models.functions import Round, TruncDate

from dashboard.models import OutsideSource, annotate_outside_source
from proxyapi.models import Account, LedgerEntry

OUTSIDE_SPEND_AGE = timedelta(days=30)  # of the spend that pages look at


class OutsideDay(NamedTuple):
    """What one source spent on one day of the team; `source` is None for debits without a name."""

    account: UUID
    source: int | None
    day: date
    credits: Decimal
    debits: int
    latest: datetime


def load_outside_days(
    accounts: QuerySet[Account], since: datetime, zone: ZoneInfo
) -> list[OutsideDay]:
    """Debits of the accounts from `since` on (UTC) that nothing explains. One query."""
    entries = LedgerEntry.objects.outside_spend(accounts, since)
    named = annotate_outside_source(entries, zone).annotate(
        day=TruncDate("happened_at", tzinfo=zone)
    )
    grouped = named.order_by().values_list("account", "source", "day")
    rows = grouped.annotate(
        credits=Round(-Sum("amount"), precision=4), debits=Count("pk"), latest=Max("happened_at")
    )
    return [OutsideDay(*row) for row in rows]


def load_unexpected_days(
    accounts: QuerySet[Account], since: datetime, zone: ZoneInfo
) -> list[tuple[OutsideDay, OutsideSource | None]]:
    """The days of no source, and those on which a source spent more than its daily limit. One
    query, and one for the sources if there are any."""
    days = load_outside_days(accounts, since, zone)
    sources = OutsideSource.objects.in_bulk({day.source for day in days if day.source})
    named = [(day, sources.get(day.source) if day.source else None) for day in days]
    return [
        (day, source) for day, source in named if not source or day.credits > source.daily_limit
    ]
