"""The balance over the window's days, walked back from today's through the ledger's own sums."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from dashboard.queries.charts import Line, Mark, Point, Stop, Tick, line_of
from dashboard.queries.overview.sums import NOTHING, Sums
from dashboard.queries.overview.window import DAY, said, short
from dashboard.templatetags.reelroom import credits

LABELS_APART = 8.0  # percent of the width between two amounts that are written out
LEAST_STEP = Decimal("0.01")  # of the highest balance


@dataclass(frozen=True, slots=True)
class Day:
    """Credits: what it began with, what went, what came; `words`: the labels of what came."""

    day: date
    began: Decimal
    went: Decimal
    came: Decimal
    refunded: Decimal
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return said(self.day)

    @property
    def halfway(self) -> Decimal:
        before = self.began - self.went / 2
        return before if before >= 0 else self.began

    @property
    def ended(self) -> Decimal:
        return self.began - self.went + self.came


def days_with(now: Decimal, sums: Sums, *, whole: bool) -> tuple[Day, ...]:
    """`now`: credits that go with the sums. No days without a single entry.

    A ledger that is not whole is told from the first day that is here in full.
    """
    first = sums.first_day
    if first is not None and not whole:
        first += DAY
    if first is None or first > sums.window.today:
        return ()
    return tuple(days_of(now, sums, max(first, sums.window.first)))


def balance_line(days: Sequence[Day]) -> Line | None:
    """Nothing to draw without days."""
    if not days:
        return None
    step = 100 / len(days)
    return line_of(
        list(points(days, step)),
        sentence(days),
        ticks=[
            Tick(place * step, short(one.day), "start" if place == 0 else "middle")
            for place, one in enumerate(days)
        ]
        + [Tick(100, "today", "end", is_strong=True)],
        marks=marks(days, step),
        stops=[Stop(place * step, step, told(one)) for place, one in enumerate(days)],
        says=f"{credits(days[0].began)} cr before {short(days[0].day)}, "
        f"{credits(days[-1].ended)} now.",
    )


def told(one: Day) -> str:
    """`Thu 20 Nov: 4,318 cr at its end. 96 went, 2,000 came.`"""
    both = ((one.went, "went"), (one.came, "came"))
    moved = ", ".join(f"{credits(amount)} {verb}" for amount, verb in both if amount)
    return f"{one.name}: {credits(one.ended)} cr at its end. {moved or 'Nothing moved'}."


def days_of(now: Decimal, sums: Sums, first: date) -> Iterator[Day]:
    went: dict[date, Decimal] = defaultdict(Decimal)
    came: dict[date, Decimal] = defaultdict(Decimal)
    refunded: dict[date, Decimal] = defaultdict(Decimal)
    words: dict[date, list[str]] = defaultdict(list)
    for row in sums.team:
        if row.day is None or row.day < first:
            continue
        if not row.is_credit:
            went[row.day] -= row.amount
        else:
            came[row.day] += row.amount
            refunded[row.day] += row.amount if row.is_matched else NOTHING
    for row in sums.came:
        if row.day is not None:
            words[row.day].append(row.label)
    began = now + sum(went.values(), NOTHING) - sum(came.values(), NOTHING)
    day = first
    while day <= sums.window.today:
        one = Day(day, began, went[day], came[day], refunded[day], tuple(words[day]))
        yield one
        began, day = one.ended, day + DAY


def points(days: Sequence[Day], step: float) -> Iterator[Point]:
    """The end of each day is exact. When in a day credits came is not told by its sum: they are
    drawn at its middle, with nothing spent before where half of it was not there to spend."""
    yield Point(0, days[0].began)
    for place, day in enumerate(days):
        if day.came:
            x = (place + 0.5) * step
            yield Point(x, day.halfway)
            yield Point(x, day.halfway + day.came)
        yield Point((place + 1) * step, day.ended)


def marks(days: Sequence[Day], step: float) -> list[Mark]:
    """Where credits came, the larger ones with their amount, as far as there is room; what is no
    step in the line to the eye has none."""
    seen = max(max(day.began, day.ended) for day in days) * LEAST_STEP
    written: list[float] = []
    found: list[Mark] = []
    arrivals = [(place, day) for place, day in enumerate(days) if day.came]
    for place, day in sorted(arrivals, key=lambda one: -one[1].came):
        point = Point((place + 0.5) * step, day.halfway + day.came)
        has_room = day.came >= seen and all(
            abs(point.x - other) >= LABELS_APART for other in written
        )
        written += [point.x] if has_room else []
        label = f"+{credits(day.came)}" if has_room else ""
        found.append(Mark(point, "in", came_in(day), label))
    last = days[-1]
    return [*found, Mark(Point(100, last.ended), "now", "now", credits(last.ended))]


def came_in(day: Day) -> str:
    """`1 Nov: +2,000 credits, Auto top-up`"""
    words = ", ".join(sorted({word for word in day.words if word}))
    return f"{short(day.day)}: +{credits(day.came)} credits{f', {words}' if words else ''}"


def sentence(days: Sequence[Day]) -> str:
    came = [short(day.day) for day in days if day.came > day.refunded]
    arrived = f" Credits arrived on {', '.join(came)}." if came else ""
    return (
        f"Balance from {said(days[0].day)} to today: from {credits(days[0].began)} to "
        f"{credits(days[-1].ended)} credits.{arrived}"
    )
