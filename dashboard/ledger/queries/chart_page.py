"""The charts of the ledger: the balance with what came in, and the shares of the features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from dashboard.ledger.queries.filters import LedgerChartsFilters, LedgerFilters
from dashboard.ledger.queries.page import (
    DateFields,
    LedgerNotice,
    build_date_fields,
    build_ledger_notices,
    iter_period_chips,
)
from dashboard.ledger.queries.period import Granularity, choose_granularity
from dashboard.ledger.queries.rows import day_title
from dashboard.ledger.queries.scope import LedgerScope, load_ledger_scope
from dashboard.ledger.queries.totals import ZERO_CREDITS, iter_feature_sums
from dashboard.models import Membership
from dashboard.shared.charts import (
    AxisTick,
    ChartMark,
    HoverTarget,
    LineChart,
    LinePoint,
    build_line_chart,
)
from dashboard.shared.feature_labels import OUTSIDE_LABEL, feature_label
from dashboard.shared.filter_chips import FilterChip
from dashboard.shared.formatting import credits
from dashboard.shared.ledger_agreement import ledger_end_balance
from proxyapi.models import DailyTotal
from proxyapi.rollups.daily_totals import CreditSum

MAX_MARKS_PER_KIND = 12  # of each kind; of more only the largest are drawn
MAX_UNTRIMMED_DAYS = 400  # days; of longer periods the chart begins with the first row
MAX_DAILY_POINTS = 190  # days that are drawn one by one


class BalanceTableRow(NamedTuple):
    """A day, a week or a month as a row of the table."""

    name: str
    received: Decimal
    balance: Decimal


@dataclass(frozen=True, slots=True)
class BalanceChart:
    """`head`: what a row of the table is: Day | Week | Month."""

    line: LineChart
    head: str
    table: tuple[BalanceTableRow, ...]


@dataclass(frozen=True, slots=True)
class LedgerChartsPage:
    filters: LedgerFilters
    chips: tuple[FilterChip, ...]
    dates: DateFields
    banners: tuple[LedgerNotice, ...]
    period_label: str
    balance: BalanceChart | None
    shares: tuple[FeatureShare, ...]
    spent: Decimal
    url: str
    back_url: str


@dataclass(frozen=True, slots=True)
class ReceivedCredits:
    bought: Decimal = ZERO_CREDITS
    refunded: Decimal = ZERO_CREDITS

    @property
    def total(self) -> Decimal:
        return self.bought + self.refunded


def build_ledger_charts_page(reader: Membership, filters: LedgerFilters) -> LedgerChartsPage:
    """Three queries. The balance knows no members and no features: other filters do not count."""
    kept = LedgerChartsFilters(period=filters.period, dates=filters.dates, account=filters.account)
    scope = load_ledger_scope(reader.team, kept)
    shares = load_feature_shares(scope)
    return LedgerChartsPage(
        filters=kept,
        chips=tuple(iter_period_chips(scope)),
        dates=build_date_fields("ledger-charts", kept, scope),
        banners=build_ledger_notices(scope),
        period_label=scope.period.label,
        balance=build_ledger_balance_chart(scope),
        shares=shares,
        spent=sum((one.amount for one in shares), ZERO_CREDITS),
        url=kept.fragment_url("charts"),
        back_url=filters.url(),
    )


# The balance --------------------------------------------------------------------------------------
def build_ledger_balance_chart(scope: LedgerScope) -> BalanceChart | None:
    """One query. Walks back from the balance of now; nothing where no row is mirrored."""
    known = [one for one in scope.accounts if one.pk in scope.ids and one.balance_as_of]
    nets, came = load_daily_changes(scope, [one.pk for one in known])
    if not nets:
        return None
    now = sum((ledger_end_balance(one) for one in known), ZERO_CREDITS)
    first = scope.period.first if scope.period.days <= MAX_UNTRIMMED_DAYS else min(nets)
    ends = compute_day_end_balances(nets, now, first, max(scope.today, max(nets)))
    days = [day for day in ends if scope.period.first <= day <= min(scope.period.last, scope.today)]
    return draw_balance_chart(scope, {day: ends[day] for day in days}, came) if days else None


def load_daily_changes(
    scope: LedgerScope, ids: Sequence[UUID]
) -> tuple[dict[date, Decimal], dict[date, ReceivedCredits]]:
    """What each day since the period's first changed, and what came in on it.

    A refund is a credit that has a charge.
    """
    since = DailyTotal.objects.filter(account_id__in=ids, day__gte=scope.period.first)
    rows = (
        since.order_by()
        .values_list("day")
        .annotate(
            net=CreditSum("amount"),
            bought=CreditSum("amount", filter=Q(is_credit=True, is_matched=False)),
            refunded=CreditSum("amount", filter=Q(is_credit=True, is_matched=True)),
        )
    )
    nets: dict[date, Decimal] = {}
    came: dict[date, ReceivedCredits] = {}
    for day, net, bought, refunded in rows:
        nets[day] = net
        if bought or refunded:
            came[day] = ReceivedCredits(bought or ZERO_CREDITS, refunded or ZERO_CREDITS)
    return nets, came


def compute_day_end_balances(
    nets: Mapping[date, Decimal], now: Decimal, first: date, last: date
) -> dict[date, Decimal]:
    """What was left at the end of each day, in the order of days."""
    left, ends, day = now, {}, last
    while day >= first:
        ends[day] = left
        left -= nets.get(day, ZERO_CREDITS)
        day -= timedelta(days=1)
    return dict(reversed(ends.items()))


def draw_balance_chart(
    scope: LedgerScope, ends: Mapping[date, Decimal], came: Mapping[date, ReceivedCredits]
) -> BalanceChart:
    days, says = list(ends), balance_chart_text(scope, ends)
    step = choose_granularity(days[0], days[-1])
    width = 100 / len(days)
    every = max(1, len(days) // MAX_DAILY_POINTS)
    points = {day: LinePoint((number + 0.5) * width, ends[day]) for number, day in enumerate(days)}
    line = build_line_chart(
        [points[day] for day in [*days[::every], days[-1]]],
        says,
        ticks=[
            AxisTick(points[day].x, "today" if day == scope.today else step.short_label(day))
            for day in days
        ],
        marks=[
            ChartMark(
                points[day],
                kind,
                f"{balance_day_title(scope, day)}: {words} {credits(amount)} cr",
            )
            for kind, words, day, amount in iter_largest_credits(came, points)
        ],
        stops=[
            HoverTarget(number * width, width * every, balance_day_text(scope, day, ends, came))
            for number, day in list(enumerate(days))[::every]
        ],
        says=says,
    )
    return BalanceChart(line, step.title(), tuple(iter_balance_table_rows(scope, step, ends, came)))


def iter_balance_table_rows(
    scope: LedgerScope,
    step: Granularity,
    ends: Mapping[date, Decimal],
    came: Mapping[date, ReceivedCredits],
) -> Iterator[BalanceTableRow]:
    """The newest first: what came in a step, and what was left at the end of it."""
    for start, group in groupby(reversed(list(ends)), key=step.first_day):
        days = list(group)
        into = sum((came[day].total for day in days if day in came), ZERO_CREDITS)
        name = balance_day_title(scope, start) if step is Granularity.DAY else step.label(start)
        yield BalanceTableRow(name, into, ends[days[0]])


def iter_largest_credits(
    came: Mapping[date, ReceivedCredits], drawn: Collection[date]
) -> Iterator[tuple[str, str, date, Decimal]]:
    """Kind, words, day and amount of what is drawn: of each kind the largest."""
    kinds = (("in", "credits in", "bought"), ("refund", "refunded", "refunded"))
    for kind, told, name in kinds:
        amounts = {day: getattr(it, name) for day, it in came.items() if day in drawn}
        largest = sorted((day for day in amounts if amounts[day]), key=lambda day: -amounts[day])
        for day in largest[:MAX_MARKS_PER_KIND]:
            yield kind, told, day, amounts[day]


def balance_day_text(
    scope: LedgerScope,
    day: date,
    ends: Mapping[date, Decimal],
    came: Mapping[date, ReceivedCredits],
) -> str:
    parts = [f"{balance_day_title(scope, day)}: {credits(ends[day])} cr at the end."]
    it = came.get(day, ReceivedCredits())
    if it.bought:
        parts.append(f"Credits in: {credits(it.bought)}.")
    if it.refunded:
        parts.append(f"Refunded: {credits(it.refunded)}.")
    return " ".join(parts)


def balance_day_title(scope: LedgerScope, day: date) -> str:
    return day_title(day, scope.today)


def balance_chart_text(scope: LedgerScope, ends: Mapping[date, Decimal]) -> str:
    low, high = min(ends, key=lambda day: ends[day]), max(ends, key=lambda day: ends[day])
    return (
        f"{scope.period.label}: the balance ended at {credits(list(ends.values())[-1])} credits. "
        f"Highest {credits(ends[high])} on {high.day} {high:%b %Y}, lowest {credits(ends[low])} on "
        f"{low.day} {low:%b %Y}."
    )


@dataclass(frozen=True, slots=True)
class FeatureShare:
    """`width`: of the longest, in percent; `of_all` in words; `tone`: outside or nothing."""

    label: str
    url: str
    amount: Decimal
    rows: int
    width: float
    of_all: str
    tone: str


class FeatureSpend(NamedTuple):
    """Positive credits, and how many entries they were."""

    amount: Decimal = ZERO_CREDITS
    rows: int = 0


def load_feature_shares(scope: LedgerScope) -> tuple[FeatureShare, ...]:
    """One query: what each feature took, the largest first, what is outside the portal last."""
    ours, outside = load_feature_spend(scope)
    largest = sorted(ours, key=lambda name: (-ours[name].amount, name))
    told = [(feature_label(name), name, "", *ours[name]) for name in largest]
    if outside.rows:
        told.append((OUTSIDE_LABEL, "", "outside", *outside))
    whole = sum((one[3] for one in told), ZERO_CREDITS)
    longest = max((one[3] for one in told), default=ZERO_CREDITS) or Decimal(1)
    return tuple(
        FeatureShare(
            label=label,
            url=feature_share_url(scope.filters, operation),
            amount=amount,
            rows=count,
            width=float(100 * amount / longest),
            of_all=f"{100 * amount / (whole or 1):.1f} %",
            tone=tone,
        )
        for label, operation, tone, amount, count in told
    )


def load_feature_spend(scope: LedgerScope) -> tuple[dict[str, FeatureSpend], FeatureSpend]:
    """By feature, and what no charge explains."""
    ours: dict[str, FeatureSpend] = defaultdict(FeatureSpend)
    outside = FeatureSpend()
    first, *others = map(sum_debits_by_feature, iter_feature_sums(scope))
    for operation, is_matched, amount, rows in first.union(*others, all=True):
        before = ours[operation] if is_matched else outside
        spent = FeatureSpend(before.amount - amount, before.rows + rows)
        if is_matched:
            ours[operation] = spent
        else:
            outside = spent
    return ours, outside


def sum_debits_by_feature(sums: QuerySet[Any]) -> QuerySet[Any]:
    split = sums.filter(is_credit=False).order_by().values_list("operation", "is_matched")
    parts: QuerySet[Any] = split.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    return parts


def feature_share_url(filters: LedgerFilters, operation: str) -> str:
    narrowed = {"feature": operation} if operation else {"match": "no", "direction": "out"}
    return filters.url("ledger", **narrowed)
