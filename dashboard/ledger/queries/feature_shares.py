"""What each feature took of the credits that were spent."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import QuerySet, Sum

from dashboard.ledger.queries.feature_sums import iter_feature_sums
from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.scope import LedgerScope
from dashboard.ledger.queries.totals import ZERO_CREDITS
from dashboard.shared.feature_labels import OUTSIDE_LABEL, feature_label
from proxyapi.rollups.daily_totals import CreditSum


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
    return filters.url(**narrowed)
