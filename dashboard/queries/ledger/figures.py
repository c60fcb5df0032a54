"""What the filtered rows add up to, for each day and together. Amounts are credits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from dashboard.queries.ledger.scope import Scope
from proxyapi.day_sums import CreditSum

NOTHING = Decimal(0)


@dataclass(slots=True)
class Figures:
    """`spent` and `outside` are positive; `outside` is the part of it that no charge explains."""

    spent: Decimal = NOTHING
    came: Decimal = NOTHING
    outside: Decimal = NOTHING
    rows: int = 0

    @property
    def net(self) -> Decimal:
        return self.came - self.spent

    @property
    def explained(self) -> str:
        """How much of what was spent has a charge of ours, such as "97.8 %"; empty without any."""
        if not self.spent:
            return ""
        share = 100 * (self.spent - self.outside) / self.spent
        return f"{share:.1f}".removesuffix(".0") + " %"

    def add(self, amount: Decimal, rows: int, *, is_credit: bool, is_matched: bool) -> None:
        self.rows += rows
        if is_credit:
            self.came += amount
            return
        self.spent -= amount
        if not is_matched:
            self.outside -= amount


@dataclass(frozen=True, slots=True)
class Books:
    whole: Figures = field(default_factory=Figures)
    days: Mapping[date, Figures] = field(default_factory=dict)


def books_of(scope: Scope) -> Books:
    """One query. Of one job the rows themselves are added, for they are few and indexed."""
    whole: Figures = Figures()
    days: dict[date, Figures] = {}
    for row in job_rows(scope) if scope.filters.job else day_rows(scope):
        for figures in (whole, days.setdefault(row["day"], Figures())):
            figures.add(
                row["sum"], row["rows"], is_credit=row["is_credit"], is_matched=row["is_matched"]
            )
    return Books(whole, days)


def day_rows(scope: Scope) -> Iterable[Mapping[str, Any]]:
    split = scope.sums().order_by().values("day", "is_credit", "is_matched")
    return split.annotate(sum=CreditSum("amount"), rows=Sum("entries"))


def job_rows(scope: Scope) -> Iterable[Mapping[str, Any]]:
    for at, amount, charge in scope.entries().values_list("happened_at", "amount", "charge_id"):
        yield {
            "day": at.astimezone(scope.zone).date(),
            "is_credit": amount > 0,
            "is_matched": charge is not None,
            "sum": amount,
            "rows": 1,
        }
