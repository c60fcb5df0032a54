"""Sums of the filtered rows: per day, per feature and in total. Amounts are in credits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, TypeAlias, cast

from django.db.models import CharField, DecimalField, F, Field, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast

from dashboard.ledger.queries.period import Granularity, LedgerPeriod, TruncToGranularity
from dashboard.ledger.queries.scope import LedgerScope, LedgerSearchResult, build_column_filters
from proxyapi.models import MonthlyTotalByOperation
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.rollups.price_counts import next_month

ONE_DAY = timedelta(days=1)
ZERO_CREDITS = Decimal(0)
UNSPLIT_KEY = None  # the key of rows outside a split
IS_DEBIT, CREDITS_FIELD = Q(is_credit=False), DecimalField(**CREDIT_FIELD_OPTIONS)


def iter_feature_sums(scope: LedgerScope) -> Iterator[QuerySet[Any]]:
    """Sums of whole months, and of the days before and after them; `start` is the month of each
    row.

    All sums are of days if a filter needs a column that the monthly table lacks.
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
            # Only one lower bound: with two, SQLite searches the index from the first one.
            yield daily_feature_sums(replace(scope, period=replace(period, first=first, last=last)))


def daily_feature_sums(scope: LedgerScope) -> QuerySet[Any]:
    days: QuerySet[Any] = scope.sums("operation").annotate(
        start=TruncToGranularity("day", Granularity.MONTH)
    )
    return days


def whole_months_within(period: LedgerPeriod) -> tuple[date, date]:
    """The first day of the first whole month, and the day after the last one; not in order if there
    is none."""
    first = period.first.replace(day=1)
    return first if first == period.first else next_month(first), (period.last + ONE_DAY).replace(
        day=1
    )


@dataclass(slots=True)
class CreditTotals:
    """`spent` and `outside` are positive; `outside` is the part of `spent` that no charge
    explains."""

    spent: Decimal = ZERO_CREDITS
    received: Decimal = ZERO_CREDITS
    outside: Decimal = ZERO_CREDITS
    rows: int = 0

    @property
    def net(self) -> Decimal:
        return self.received - self.spent

    @property
    def spent_kind(self) -> str:
        return "out" if self.spent else "exact"

    @property
    def received_kind(self) -> str:
        return "in" if self.received else "exact"

    @property
    def matched_percent(self) -> str:
        """The share of the spend that has a charge, such as "97.8 %"; empty without spend."""
        if not self.spent:
            return ""
        share = 100 * (self.spent - self.outside) / self.spent
        return f"{share:.1f}".removesuffix(".0") + " %"

    def add(
        self, debits: Decimal | None, received: Decimal | None, outside: Decimal | None, rows: int
    ) -> None:
        """Add sums from the database: signed, None without such a row."""
        self.spent -= debits or ZERO_CREDITS
        self.received += received or ZERO_CREDITS
        self.outside -= outside or ZERO_CREDITS
        self.rows += rows


@dataclass(frozen=True, slots=True)
class LedgerTotals:
    """`parts` is the spend by the first day of a step and the key of the split."""

    total: CreditTotals = field(default_factory=CreditTotals)
    days: Mapping[date, CreditTotals] = field(default_factory=dict)
    parts: Mapping[tuple[date, str], Decimal] = field(default_factory=dict)


SplitQueries: TypeAlias = tuple[QuerySet[Any], ...]


def load_ledger_totals(scope: LedgerScope, split: SplitQueries = ()) -> LedgerTotals:
    """One query, including the parts of a `split` by its `start` and `key`.

    For one job or label the rows themselves are added up, because they are few and indexed.
    """
    total: CreditTotals = CreditTotals()
    days: dict[date, CreditTotals] = {}
    parts: dict[tuple[date, str], Decimal] = {}
    for day, key, debits, *figures in load_total_rows(scope, split):
        if key is not UNSPLIT_KEY:
            parts[day, str(key)] = -debits
            continue
        for sums in (total, days.setdefault(day, CreditTotals())):
            sums.add(debits, *figures)
    return LedgerTotals(total, days, parts)


def load_total_rows(scope: LedgerScope, split: SplitQueries) -> Iterable[tuple[Any, ...]]:
    if scope.found:
        return iter_search_total_rows(scope, scope.found)
    if scope.filters.selects_videos:
        return iter_entry_total_rows(scope, scope.entries())
    if not split:
        return sum_by_day(scope.sums())
    key = split[0].query.annotations["key"].output_field
    return sum_by_day(scope.sums(), key).union(*map(sum_split_debits, split), all=True)


def sum_by_day(sums: QuerySet[Any], key: Field[Any, Any] | None = None) -> QuerySet[Any]:
    """One row per day: no key, debits, credits, debits without a charge, and the number of
    entries."""
    no_key = Cast(Value(UNSPLIT_KEY), key or CharField())
    rows = sums.order_by().annotate(key=no_key).values_list("day", "key")
    figures = {
        "out": CreditSum("amount", filter=IS_DEBIT),
        "came": CreditSum("amount", filter=Q(is_credit=True)),
        "outside": CreditSum("amount", filter=IS_DEBIT & Q(is_matched=False)),
    }
    return cast("QuerySet[Any]", rows.annotate(**figures, rows=Sum("entries")))


def sum_split_debits(split: QuerySet[Any]) -> QuerySet[Any]:
    """The columns of `sum_by_day`; a part of a split has debits only."""
    rows, none = split.order_by().values_list("start", "key"), Cast(Value(None), CREDITS_FIELD)
    parts = rows.annotate(out=CreditSum("amount"), came=none, outside=none, rows=Value(0))
    return cast("QuerySet[Any]", parts)


def iter_search_total_rows(
    scope: LedgerScope, result: LedgerSearchResult
) -> Iterator[tuple[Any, ...]]:
    """Rows of totals for a search result; one query if it matched a name."""
    for row in result.rows:
        yield build_total_row(scope, row.at, row.amount)
    if scope.filters.selects_videos:
        yield from iter_entry_total_rows(scope, scope.entries().filter(result.any_name_q))
        return
    sums = [sum_by_day(part) for part in iter_search_sums(scope, result)]
    if sums:
        yield from sums[0].union(*sums[1:], all=True)


def iter_search_sums(scope: LedgerScope, result: LedgerSearchResult) -> Iterator[QuerySet[Any]]:
    """Sums of the labels and features, and of the members without those, so that no row counts
    twice."""
    has_labels = bool(result.labels or result.operations)
    if has_labels:
        yield scope.sums("operation", "label").filter(result.label_or_operation_q)
    if result.members:
        extra_columns = ("operation", "label") if has_labels else ()
        member_sums = scope.sums("member", *extra_columns).filter(member__in=result.members)
        yield member_sums.exclude(result.label_or_operation_q) if has_labels else member_sums


def iter_entry_total_rows(scope: LedgerScope, rows: QuerySet[Any]) -> Iterator[tuple[Any, ...]]:
    for at, amount in rows.values_list("happened_at", "amount"):
        yield build_total_row(scope, at, amount)


def build_total_row(scope: LedgerScope, at: datetime, amount: Decimal) -> tuple[Any, ...]:
    """Of a row of a job, which is never outside the portal."""
    day = at.astimezone(scope.zone).date()
    if amount > 0:
        return day, UNSPLIT_KEY, None, amount, None, 1
    return day, UNSPLIT_KEY, amount, None, None, 1
