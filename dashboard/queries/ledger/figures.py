"""What the filtered rows add up to, for each day and together. Amounts are credits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias, cast

from django.db.models import CharField, DecimalField, Field, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast

from dashboard.queries.ledger.found import Found
from dashboard.queries.ledger.scope import Scope
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum

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
    def spent_is(self) -> str:
        return "out" if self.spent else "exact"

    @property
    def came_is(self) -> str:
        return "in" if self.came else "exact"

    @property
    def explained(self) -> str:
        """How much of what was spent has a charge of ours, such as "97.8 %"; empty without any."""
        if not self.spent:
            return ""
        share = 100 * (self.spent - self.outside) / self.spent
        return f"{share:.1f}".removesuffix(".0") + " %"

    def add(
        self, out: Decimal | None, came: Decimal | None, outside: Decimal | None, rows: int
    ) -> None:
        """Sums as the database has them: signed, and nothing where there is no such row."""
        self.spent -= out or NOTHING
        self.came += came or NOTHING
        self.outside -= outside or NOTHING
        self.rows += rows


@dataclass(frozen=True, slots=True)
class Books:
    """`parts`: what was spent for one key of a split, by the first day of a step."""

    whole: Figures = field(default_factory=Figures)
    days: Mapping[date, Figures] = field(default_factory=dict)
    parts: Mapping[tuple[date, str], Decimal] = field(default_factory=dict)


Split: TypeAlias = tuple[QuerySet[Any], ...]
WHOLE = None  # the key of what is not split
DEBIT, AMOUNT = Q(is_credit=False), DecimalField(**CREDIT_FIELD_OPTIONS)


def books_of(scope: Scope, split: Split = ()) -> Books:
    """One query, the parts of a `split` by its `start` and `key` included.

    Of one job the rows themselves are added, for they are few and indexed.
    """
    whole: Figures = Figures()
    days: dict[date, Figures] = {}
    parts: dict[tuple[date, str], Decimal] = {}
    for day, key, out, *figures in rows_of(scope, split):
        if key is not WHOLE:
            parts[day, str(key)] = -out
            continue
        for sums in (whole, days.setdefault(day, Figures())):
            sums.add(out, *figures)
    return Books(whole, days, parts)


def rows_of(scope: Scope, split: Split) -> Iterable[tuple[Any, ...]]:
    if scope.found:
        return lines_found(scope, scope.found)
    if scope.filters.job:
        return lines_of(scope, scope.entries())
    if not split:
        return summed(scope.sums())
    key = split[0].query.annotations["key"].output_field
    return summed(scope.sums(), key).union(*map(parted, split), all=True)


def summed(sums: QuerySet[Any], key: Field[Any, Any] | None = None) -> QuerySet[Any]:
    """A row a day: no key, debits, credits, debits that no charge explains, and the entries."""
    whole = Cast(Value(WHOLE), key or CharField())
    rows = sums.order_by().annotate(key=whole).values_list("day", "key")
    figures = {
        "out": CreditSum("amount", filter=DEBIT),
        "came": CreditSum("amount", filter=Q(is_credit=True)),
        "outside": CreditSum("amount", filter=DEBIT & Q(is_matched=False)),
    }
    return cast("QuerySet[Any]", rows.annotate(**figures, rows=Sum("entries")))


def parted(split: QuerySet[Any]) -> QuerySet[Any]:
    """The same columns; of a part only its debits are asked for."""
    rows, none = split.order_by().values_list("start", "key"), Cast(Value(None), AMOUNT)
    parts = rows.annotate(out=CreditSum("amount"), came=none, outside=none, rows=Value(0))
    return cast("QuerySet[Any]", parts)


def lines_found(scope: Scope, found: Found) -> Iterator[tuple[Any, ...]]:
    """Of what a search found; one query where it found a name."""
    for row in found.rows:
        yield line(scope, row.at, row.amount, row.is_matched)
    if scope.filters.job:
        yield from lines_of(scope, scope.entries().filter(found.named))
        return
    sums = [summed(part) for part in sums_found(scope, found)]
    if sums:
        yield from sums[0].union(*sums[1:], all=True)


def sums_found(scope: Scope, found: Found) -> Iterator[QuerySet[Any]]:
    """Of labels and features, and of people besides: no row is in both."""
    words = bool(found.labels or found.operations)
    if words:
        yield scope.sums("operation", "label").filter(found.worded)
    if found.members:
        beside = ("operation", "label") if words else ()
        theirs = scope.sums("member", *beside).filter(member__in=found.members)
        yield theirs.exclude(found.worded) if words else theirs


def lines_of(scope: Scope, rows: QuerySet[Any]) -> Iterator[tuple[Any, ...]]:
    for at, amount, charge in rows.values_list("happened_at", "amount", "charge_id"):
        yield line(scope, at, amount, charge is not None)


def line(scope: Scope, at: datetime, amount: Decimal, is_matched: bool) -> tuple[Any, ...]:
    day = at.astimezone(scope.zone).date()
    if amount > 0:
        return day, WHOLE, None, amount, None, 1
    return day, WHOLE, amount, None, None if is_matched else amount, 1
