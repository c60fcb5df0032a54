"""What each feature took of the credits that were spent: of whole months from the months' sums, so
that years are as quick as weeks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet, Sum

from dashboard.queries.ledger.figures import NOTHING
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.period import Period
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import OUTSIDE, feature
from proxyapi.day_sums import CreditSum
from proxyapi.models import MonthFeature
from proxyapi.month_costs import after

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Share:
    """`width`: of the longest, in percent; `of_all` in words; `tone`: outside or nothing."""

    label: str
    url: str
    amount: Decimal
    rows: int
    width: float
    of_all: str
    tone: str


class Spent(NamedTuple):
    """Positive credits, and how many entries they were."""

    amount: Decimal = NOTHING
    rows: int = 0


def shares_of(scope: Scope) -> tuple[Share, ...]:
    """One query: what each feature took, the largest first, what is outside the portal last."""
    ours, outside = spent_of(scope)
    largest = sorted(ours, key=lambda name: (-ours[name].amount, name))
    told = [(feature(name), name, "", *ours[name]) for name in largest]
    if outside.rows:
        told.append((OUTSIDE, "", "outside", *outside))
    whole = sum((one[3] for one in told), NOTHING)
    longest = max((one[3] for one in told), default=NOTHING) or Decimal(1)
    return tuple(
        Share(
            label=label,
            url=share_url(scope.filters, operation),
            amount=amount,
            rows=count,
            width=float(100 * amount / longest),
            of_all=f"{100 * amount / (whole or 1):.1f} %",
            tone=tone,
        )
        for label, operation, tone, amount, count in told
    )


def spent_of(scope: Scope) -> tuple[dict[str, Spent], Spent]:
    """By feature, and what no charge explains."""
    ours: dict[str, Spent] = defaultdict(Spent)
    outside = Spent()
    first, *others = (summed(part) for part in parts_of(scope))
    for operation, is_matched, amount, rows in first.union(*others, all=True):
        before = ours[operation] if is_matched else outside
        spent = Spent(before.amount - amount, before.rows + rows)
        if is_matched:
            ours[operation] = spent
        else:
            outside = spent
    return ours, outside


def parts_of(scope: Scope) -> Iterator[QuerySet[Any]]:
    """The sums of the period: its whole months, and the days before and after them."""
    period, (start, end) = scope.period, whole_months(scope.period)
    if start >= end:
        yield scope.sums("operation")
        return
    yield MonthFeature.objects.filter(**scope.of_accounts(), month__gte=start, month__lt=end)
    for first, last in ((period.first, start - DAY), (end, period.last)):
        if first <= last:
            # Of two lower bounds SQLite searches an index from the first, so there is one.
            part = replace(scope, period=replace(period, first=first, last=last))
            yield part.sums("operation")


def whole_months(period: Period) -> tuple[date, date]:
    """From the first month on, until before the second; the same, or less, where there is none."""
    first = period.first.replace(day=1)
    return first if first == period.first else after(first), (period.last + DAY).replace(day=1)


def summed(sums: QuerySet[Any]) -> QuerySet[Any]:
    split = sums.filter(is_credit=False).order_by().values_list("operation", "is_matched")
    parts: QuerySet[Any] = split.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    return parts


def share_url(filters: Filters, operation: str) -> str:
    narrowed = {"feature": operation} if operation else {"match": "no", "direction": "out"}
    return filters.url(**narrowed)
