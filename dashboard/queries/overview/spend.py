"""What was spent: today, this week and this month against the last one, per day and member, and
on what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from dashboard.queries.charts import (
    OTHERS,
    OUTSIDE,
    Bars,
    Column,
    Series,
    bars_of,
    tones,
)
from dashboard.queries.ledger.words import OUTSIDE as ELSEWHERE_NAME
from dashboard.queries.ledger.words import feature
from dashboard.queries.overview.sums import NOTHING, Spender, Sums
from dashboard.queries.overview.window import (
    DAY,
    month_before,
    said,
    same_day_before,
    short,
    week_start,
)
from dashboard.templatetags.reelroom import credits

REST, ELSEWHERE = "others", "outside"


@dataclass(frozen=True, slots=True)
class Fact:
    """Credits of a span that runs, beside the one before it."""

    label: str
    spent: Decimal
    before: str


@dataclass(frozen=True, slots=True)
class Share:
    """`part` of the longest bar, `of_all` of the sum, both in percent."""

    name: str
    tone: str
    spent: Decimal
    part: float
    of_all: float
    count: int = 0

    @property
    def percent(self) -> str:
        if 0 < self.of_all < 1:
            return "under 1 %"
        return f"{round(self.of_all)} %"


@dataclass(frozen=True, slots=True)
class Spend:
    facts: tuple[Fact, ...]
    bars: Bars
    says: str
    members: tuple[Share, ...]
    features: tuple[Share, ...]
    total: Decimal
    note: str

    @property
    def nothing(self) -> bool:
        return not self.total


def spend_from(sums: Sums) -> Spend:
    window = sums.window
    total = sums.spent(window.first, window.today)
    return Spend(
        facts=tuple(facts(sums)),
        bars=bars(sums, total),
        says=f"{credits(total)} cr {window.words}.",
        members=tuple(by_member(sums, total)),
        features=tuple(by_feature(sums, total)),
        total=total,
        note=f"{credits(total)} cr since {short(window.first)}",
    )


def facts(sums: Sums) -> Iterator[Fact]:
    """The span before is shown as far as the same day, and whole."""
    today = sums.window.today
    monday, first = week_start(today), today.replace(day=1)
    yield Fact(
        "Today",
        sums.spent(today, today),
        f"yesterday {credits(sums.spent(today - DAY, today - DAY))}",
    )
    by_now = sums.spent(monday - 7 * DAY, today - 7 * DAY)
    whole = sums.spent(monday - 7 * DAY, monday - DAY)
    yield Fact(
        "This week",
        sums.spent(monday, today),
        f"last week {credits(by_now)} by {today:%A}, {credits(whole)} in all",
    )
    before = month_before(today)
    same = same_day_before(today)
    by_now, whole = sums.spent(before, same), sums.spent(before, first - DAY)
    yield Fact(
        "This month",
        sums.spent(first, today),
        f"{before:%B} {credits(by_now)} by the {ordinal(same.day)}, {credits(whole)} in all",
    )


def ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def bars(sums: Sums, total: Decimal) -> Bars:
    """The members who spent most in their own colours; what nobody of ours spent on top."""
    window = sums.window
    days: dict[date, dict[str, Decimal]] = {day: defaultdict(Decimal) for day in window.days}
    for row in sums.team:
        if row.day in days and not row.is_credit:
            days[row.day][REST if row.is_matched else ELSEWHERE] -= row.amount
    for row in sums.days:
        if row.day in days:
            days[row.day][str(row.member)] -= row.amount
            days[row.day][REST] += row.amount
    return bars_of(
        series_of(sums.coloured),
        [
            Column(
                said(day),
                "today" if day == window.today else short(day),
                amounts,
                is_now=day == window.today,
            )
            for day, amounts in days.items()
        ],
        f"Credits spent per day and member {window.words}, {credits(total)} in all",
    )


def series_of(coloured: Sequence[Spender]) -> list[Series]:
    colours = tones(one.id for one in coloured)
    own = [Series(str(one.id), one.first_name, colours[one.id]) for one in coloured]
    return [Series(REST, "others", OTHERS), *own, Series(ELSEWHERE, "outside the portal", OUTSIDE)]


def by_member(sums: Sums, total: Decimal) -> Iterator[Share]:
    """Who spent most first; then everybody else together, and what came from outside."""
    colours = tones(one.id for one in sums.coloured)
    found = [(one.name, colours.get(one.id, OTHERS), one.spent) for one in sums.spenders]
    if sums.others.people:
        found.append((others_name(sums.others.people), OTHERS, sums.others.spent))
    outside = sums.outside(sums.window.first, sums.window.today)
    if outside:
        found.append((ELSEWHERE_NAME, OUTSIDE, outside))
    most = max((spent for _, _, spent in found), default=NOTHING)
    for name, tone, spent in found:
        yield share(name, tone, spent, most, total)


def others_name(people: int) -> str:
    return "1 other" if people == 1 else f"{people:,} others"


def by_feature(sums: Sums, total: Decimal) -> Iterator[Share]:
    spent: dict[str, Decimal] = defaultdict(Decimal)
    count: dict[str, int] = defaultdict(int)
    for row in sums.features:
        name = feature(row.operation) if row.is_matched else ELSEWHERE_NAME
        spent[name] -= row.amount
        count[name] += row.entries
    most = max(spent.values(), default=NOTHING)
    for name in sorted(spent, key=lambda name: (-spent[name], name)):
        yield share(name, "", spent[name], most, total, count[name])


def share(
    name: str, tone: str, spent: Decimal, most: Decimal, total: Decimal, count: int = 0
) -> Share:
    part = float(100 * spent / most) if most else 0.0
    return Share(name, tone, spent, part, float(100 * spent / total) if total else 0.0, count)
