"""The sums by feature of a period, in as few rows as tell them: years are as quick as weeks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from django.db.models import F, QuerySet

from dashboard.ledger.queries.granularity import Granularity, TruncToGranularity
from dashboard.ledger.queries.period import LedgerPeriod
from dashboard.ledger.queries.scope import LedgerScope, build_column_filters
from proxyapi.models import MonthlyTotalByOperation
from proxyapi.rollups.price_counts import next_month

ONE_DAY = timedelta(days=1)


def iter_feature_sums(scope: LedgerScope) -> Iterator[QuerySet[Any]]:
    """Whole months, and the days before and after them; each row's month is its `start`.

    Where a filter asks for what months do not tell of, all of it is days.
    """
    period, (start, end) = scope.period, whole_months_within(scope.period)
    if start >= end or not build_column_filters(scope.filters).keys() <= {"operation"}:
        yield daily_feature_sums(scope)
        return
    months = MonthlyTotalByOperation.objects.filter(
        **scope.sums_filter(), month__gte=start, month__lt=end
    )
    yield months.annotate(start=F("month"))
    for first, last in ((period.first, start - ONE_DAY), (end, period.last)):
        if first <= last:
            # Of two lower bounds SQLite searches an index from the first, so there is one.
            yield daily_feature_sums(replace(scope, period=replace(period, first=first, last=last)))


def daily_feature_sums(scope: LedgerScope) -> QuerySet[Any]:
    days: QuerySet[Any] = scope.sums("operation").annotate(
        start=TruncToGranularity("day", Granularity.MONTH)
    )
    return days


def whole_months_within(period: LedgerPeriod) -> tuple[date, date]:
    """From the first month on, until before the second; the same, or less, where there is none."""
    first = period.first.replace(day=1)
    return first if first == period.first else next_month(first), (period.last + ONE_DAY).replace(
        day=1
    )
