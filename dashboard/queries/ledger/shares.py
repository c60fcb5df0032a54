"""What each feature took of the credits that were spent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet, Sum

from dashboard.queries.ledger.figures import NOTHING
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.months import by_feature
from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger.words import OUTSIDE, feature
from proxyapi.rollups.daily_totals import CreditSum


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
    first, *others = map(summed, by_feature(scope))
    for operation, is_matched, amount, rows in first.union(*others, all=True):
        before = ours[operation] if is_matched else outside
        spent = Spent(before.amount - amount, before.rows + rows)
        if is_matched:
            ours[operation] = spent
        else:
            outside = spent
    return ours, outside


def summed(sums: QuerySet[Any]) -> QuerySet[Any]:
    split = sums.filter(is_credit=False).order_by().values_list("operation", "is_matched")
    parts: QuerySet[Any] = split.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    return parts


def share_url(filters: Filters, operation: str) -> str:
    narrowed = {"feature": operation} if operation else {"match": "no", "direction": "out"}
    return filters.url(**narrowed)
