"""The ledger charts: the balance with incoming credits, and the share of each feature."""

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
    build_date_fields,
    build_ledger_notices,
    period_options,
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
    LinePoint,
    build_line_chart,
)
from dashboard.shared.feature_labels import OUTSIDE_LABEL, feature_label
from dashboard.shared.filter_chips import build_chips
from dashboard.shared.formatting import credits
from dashboard.shared.ledger_agreement import ledger_end_balance
from proxyapi.models import DailyTotal
from proxyapi.rollups.daily_totals import CreditSum

MAX_MARKS_PER_KIND = 12  # only the largest are drawn
MAX_UNTRIMMED_DAYS = 400  # the chart of a longer period starts at its first row
MAX_DAILY_POINTS = 190  # with more days, some are skipped


class BalanceTableRow(NamedTuple):
    """A day, a week or a month as a row of the table."""

    name: str
    received: Decimal
    balance: Decimal


@dataclass(frozen=True, slots=True)
class ReceivedCredits:
    bought: Decimal = ZERO_CREDITS
    refunded: Decimal = ZERO_CREDITS

    @property
    def total(self) -> Decimal:
        return self.bought + self.refunded


def load_ledger_charts(reader: Membership, filters: LedgerFilters) -> dict[str, Any]:
    """Three queries. Only period and account filter: a balance has no members or features."""
    chart_filters = LedgerChartsFilters(
        period=filters.period, dates=filters.dates, account=filters.account
    )
    scope = load_ledger_scope(reader.team, chart_filters)
    shares = load_feature_shares(scope)
    return {
        "filters": chart_filters,
        "chips": tuple(
            chip
            for chip in build_chips(chart_filters, **period_options(scope))
            if chip.name in ("period", "account")
        ),
        "dates": build_date_fields("ledger-charts", chart_filters, scope),
        "banners": build_ledger_notices(scope),
        "period_label": scope.period.label,
        "balance": build_ledger_balance_chart(scope),
        "shares": shares,
        "spent": sum((share.amount for share in shares), ZERO_CREDITS),
        "url": chart_filters.fragment_url("charts"),
        "back_url": filters.url(),
    }


# The balance --------------------------------------------------------------------------------------
def build_ledger_balance_chart(scope: LedgerScope) -> dict[str, Any] | None:
    """Calculated back from the current balance; None if no row is mirrored. One query."""
    accounts_read = [
        account for account in scope.accounts if account.pk in scope.ids and account.balance_as_of
    ]
    nets, received = load_daily_changes(scope, [account.pk for account in accounts_read])
    if not nets:
        return None
    now = sum((ledger_end_balance(account) for account in accounts_read), ZERO_CREDITS)
    first = scope.period.first if scope.period.days <= MAX_UNTRIMMED_DAYS else min(nets)
    ends = compute_day_end_balances(nets, now, first, max(scope.today, max(nets)))
    days = [day for day in ends if scope.period.first <= day <= min(scope.period.last, scope.today)]
    return draw_balance_chart(scope, {day: ends[day] for day in days}, received) if days else None


def load_daily_changes(
    scope: LedgerScope, ids: Sequence[UUID]
) -> tuple[dict[date, Decimal], dict[date, ReceivedCredits]]:
    """The net change of each day since the start of the period, and the incoming credits of each
    day.

    A credit with a charge is a refund.
    """
    totals = DailyTotal.objects.filter(account_id__in=ids, day__gte=scope.period.first)
    rows = (
        totals.order_by()
        .values_list("day")
        .annotate(
            net=CreditSum("amount"),
            bought=CreditSum("amount", filter=Q(is_credit=True, is_matched=False)),
            refunded=CreditSum("amount", filter=Q(is_credit=True, is_matched=True)),
        )
    )
    nets: dict[date, Decimal] = {}
    received: dict[date, ReceivedCredits] = {}
    for day, net, bought, refunded in rows:
        nets[day] = net
        if bought or refunded:
            received[day] = ReceivedCredits(bought or ZERO_CREDITS, refunded or ZERO_CREDITS)
    return nets, received


def compute_day_end_balances(
    nets: Mapping[date, Decimal], now: Decimal, first: date, last: date
) -> dict[date, Decimal]:
    """The balance at the end of each day, oldest first."""
    balance, ends, day = now, {}, last
    while day >= first:
        ends[day] = balance
        balance -= nets.get(day, ZERO_CREDITS)
        day -= timedelta(days=1)
    return dict(reversed(ends.items()))


def draw_balance_chart(
    scope: LedgerScope, ends: Mapping[date, Decimal], received: Mapping[date, ReceivedCredits]
) -> dict[str, Any]:
    """`head` is the heading of the table's first column: Day, Week or Month."""
    days, summary = list(ends), balance_chart_text(scope, ends)
    step = choose_granularity(days[0], days[-1])
    width = 100 / len(days)
    every = max(1, len(days) // MAX_DAILY_POINTS)
    points = {day: LinePoint((number + 0.5) * width, ends[day]) for number, day in enumerate(days)}
    line = build_line_chart(
        [points[day] for day in [*days[::every], days[-1]]],
        summary,
        ticks=[
            AxisTick(points[day].x, "today" if day == scope.today else step.short_label(day))
            for day in days
        ],
        marks=[
            ChartMark(
                points[day],
                kind,
                f"{balance_day_title(scope, day)}: {text} {credits(amount)} cr",
            )
            for kind, text, day, amount in iter_largest_credits(received, points)
        ],
        stops=[
            HoverTarget(number * width, width * every, balance_day_text(scope, day, ends, received))
            for number, day in list(enumerate(days))[::every]
        ],
        says=summary,
    )
    return {
        "line": line,
        "head": step.title(),
        "table": tuple(iter_balance_table_rows(scope, step, ends, received)),
    }


def iter_balance_table_rows(
    scope: LedgerScope,
    step: Granularity,
    ends: Mapping[date, Decimal],
    received: Mapping[date, ReceivedCredits],
) -> Iterator[BalanceTableRow]:
    """Newest first: the incoming credits of each step and the balance at its end."""
    for start, group in groupby(reversed(list(ends)), key=step.first_day):
        days = list(group)
        step_received = sum((received[day].total for day in days if day in received), ZERO_CREDITS)
        name = balance_day_title(scope, start) if step is Granularity.DAY else step.label(start)
        yield BalanceTableRow(name, step_received, ends[days[0]])


def iter_largest_credits(
    received: Mapping[date, ReceivedCredits], drawn: Collection[date]
) -> Iterator[tuple[str, str, date, Decimal]]:
    """Kind, text, day and amount of the largest incoming credits of each kind."""
    kinds = (("in", "credits in", "bought"), ("refund", "refunded", "refunded"))
    for kind, text, name in kinds:
        amounts = {
            day: getattr(credits_in, name) for day, credits_in in received.items() if day in drawn
        }
        largest = sorted((day for day in amounts if amounts[day]), key=lambda day: -amounts[day])
        for day in largest[:MAX_MARKS_PER_KIND]:
            yield kind, text, day, amounts[day]


def balance_day_text(
    scope: LedgerScope,
    day: date,
    ends: Mapping[date, Decimal],
    received: Mapping[date, ReceivedCredits],
) -> str:
    parts = [f"{balance_day_title(scope, day)}: {credits(ends[day])} cr at the end."]
    day_received = received.get(day, ReceivedCredits())
    if day_received.bought:
        parts.append(f"Credits in: {credits(day_received.bought)}.")
    if day_received.refunded:
        parts.append(f"Refunded: {credits(day_received.refunded)}.")
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
    """`width` is in percent of the largest share; `of_all` is the percentage as text; `tone` is
    "outside" or ""."""

    label: str
    url: str
    amount: Decimal
    rows: int
    width: float
    of_all: str
    tone: str


class FeatureSpend(NamedTuple):
    """Positive credits and the number of entries."""

    amount: Decimal = ZERO_CREDITS
    rows: int = 0


def load_feature_shares(scope: LedgerScope) -> tuple[FeatureShare, ...]:
    """The spend of each feature, largest first, spend outside the portal last. One query."""
    features, outside = load_feature_spend(scope)
    largest = sorted(features, key=lambda name: (-features[name].amount, name))
    shares = [(feature_label(name), name, "", *features[name]) for name in largest]
    if outside.rows:
        shares.append((OUTSIDE_LABEL, "", "outside", *outside))
    total = sum((share[3] for share in shares), ZERO_CREDITS)
    longest = max((share[3] for share in shares), default=ZERO_CREDITS) or Decimal(1)
    return tuple(
        FeatureShare(
            label=label,
            url=feature_share_url(scope.filters, operation, tone),
            amount=amount,
            rows=count,
            width=float(100 * amount / longest),
            of_all=f"{100 * amount / (total or 1):.1f} %",
            tone=tone,
        )
        for label, operation, tone, amount, count in shares
    )


def load_feature_spend(scope: LedgerScope) -> tuple[dict[str, FeatureSpend], FeatureSpend]:
    """The spend by feature, "" for imported videos, and the spend that nothing explains."""
    by_feature: dict[str, FeatureSpend] = defaultdict(FeatureSpend)
    outside = FeatureSpend()
    first, *others = map(sum_debits_by_feature, iter_feature_sums(scope))
    for operation, is_matched, amount, rows in first.union(*others, all=True):
        current = by_feature[operation] if is_matched else outside
        spent = FeatureSpend(current.amount - amount, current.rows + rows)
        if is_matched:
            by_feature[operation] = spent
        else:
            outside = spent
    return by_feature, outside


def sum_debits_by_feature(sums: QuerySet[Any]) -> QuerySet[Any]:
    debits = sums.filter(is_credit=False).order_by().values_list("operation", "is_matched")
    summed: QuerySet[Any] = debits.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    return summed


def feature_share_url(filters: LedgerFilters, operation: str, tone: str) -> str:
    """Empty for imported videos: no filter lists their entries alone."""
    if not (operation or tone):
        return ""
    share_filters = {"feature": operation} if operation else {"match": "no", "direction": "out"}
    return filters.url("ledger", **share_filters)
