"""What the team really paid: each feature's costs, and each estimate against its cost.

How often each price was taken is counted by month; the rest is arithmetic on the counts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple
from uuid import UUID

from django.db.models import Sum

from dashboard.queries.ledger.words import feature
from dashboard.queries.videos.words import TYPES
from proxyapi.models import MonthlyPriceCount
from proxyapi.rollups.price_counts import PRICE_COLUMNS, TYPE_PRICED_OPERATIONS

ABOUT = ("render", "retry", "export")  # their estimates are approximate (spec, Credit charges)
STEP, LEAST = 10, 20  # percent: the scale of the estimates ends at a round number
TENTH = Decimal("0.05")  # of the charges lie below the span, and as many above


class Row(NamedTuple):
    operation: str
    type: str
    quote: Decimal
    cost: Decimal
    times: int

    @property
    def name(self) -> str:
        """`Render, AI visuals`: a render's price hangs on its type."""
        told = feature(self.operation)
        words = TYPES.get(self.type) if self.operation in TYPE_PRICED_OPERATIONS else None
        return f"{told}, {words}" if words and words not in told else told


@dataclass(frozen=True, slots=True)
class Paid:
    """Credits of one use. `free`: uses that took none, which no other figure counts."""

    name: str
    count: int
    free: int
    median: Decimal | None
    low: Decimal | None
    high: Decimal | None
    total: Decimal

    @property
    def is_fixed(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """By how many percent the cost missed the estimate: nine in ten lie between `low` and `high`.
    `x` and `width` are of the scale, in percent."""

    name: str
    count: int
    low: int
    high: int
    x: float
    width: float

    @property
    def words(self) -> str:
        if self.low == self.high == 0:
            return "exact"
        return (
            f"{signed(self.low)} %"
            if self.low == self.high
            else (f"{signed(self.low)} to {signed(self.high)} %")
        )


def rows_of(accounts: Collection[UUID], since: date) -> list[Row]:
    """What was paid for from that month on, without what was refunded. One query."""
    counts = MonthlyPriceCount.objects.filter(account__in=accounts, month__gte=since, times__gt=0)
    found = counts.order_by().values_list(*PRICE_COLUMNS).annotate(times=Sum("times"))
    return [Row(*row) for row in found]


def paid_of(rows: Iterable[Row]) -> Iterator[Paid]:
    """By feature, what took the most first."""
    costs: dict[str, Counter[Decimal]] = defaultdict(Counter)
    for row in rows:
        costs[row.name][row.cost] += row.times
    found = [paid(name, counts) for name, counts in costs.items()]
    yield from sorted(found, key=lambda one: (-one.total, one.name))


def paid(name: str, costs: Counter[Decimal]) -> Paid:
    free = costs.pop(Decimal(0), 0)
    return Paid(
        name=name,
        count=sum(costs.values()),
        free=free,
        median=middle(costs),
        low=min(costs, default=None),
        high=max(costs, default=None),
        total=sum((cost * count for cost, count in costs.items()), Decimal(0)),
    )


def middle(costs: Counter[Decimal]) -> Decimal | None:
    """The median; of an even number of them between the two in the middle."""
    count = sum(costs.values())
    if not count:
        return None
    ordered = sorted(costs)
    return (nth(ordered, costs, (count - 1) // 2) + nth(ordered, costs, count // 2)) / 2


def nth(ordered: list[Decimal], costs: Counter[Decimal], place: int) -> Decimal:
    """The value at a place of all of them in ascending order, counted from 0."""
    for value in ordered:
        if place < costs[value]:
            return value
        place -= costs[value]
    return ordered[-1]


def estimates_of(rows: Iterable[Row]) -> tuple[tuple[Estimate, ...], int]:
    """By feature, the most frequent first; and the percent at which their common scale ends."""
    misses: dict[str, Counter[Decimal]] = defaultdict(Counter)
    for row in rows:
        if row.quote and row.cost and row.operation.rpartition(".")[2] in ABOUT:
            misses[row.name][100 * (row.cost - row.quote) / row.quote] += row.times
    spans = {name: span(counts) for name, counts in misses.items()}
    ends = scale(max(map(abs, span)) for span in spans.values())
    found = [
        Estimate(
            name=name,
            count=sum(misses[name].values()),
            low=low,
            high=high,
            x=min(98.8, 50 + 50 * low / ends),
            width=max(1.2, 50 * (high - low) / ends),
        )
        for name, (low, high) in spans.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.count, one.name))), ends


def span(misses: Counter[Decimal]) -> tuple[int, int]:
    """Whole percent between which nine in ten lie, rounded away from 0."""
    ordered, count = sorted(misses), sum(misses.values())
    cut = int(count * TENTH)
    low, high = nth(ordered, misses, cut), nth(ordered, misses, count - 1 - cut)
    return outward(low), outward(high)


def outward(percent: Decimal) -> int:
    whole = int(abs(percent).to_integral_value(rounding=ROUND_CEILING))
    return whole if percent > 0 else -whole


def scale(most: Iterable[int]) -> int:
    return max(LEAST, -(-max(most, default=0) // STEP) * STEP)


def signed(percent: int) -> str:
    if percent == 0:
        return "0"
    return f"+{percent}" if percent > 0 else f"\N{MINUS SIGN}{-percent}"
