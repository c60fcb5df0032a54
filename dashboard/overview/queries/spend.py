"""What was spent: today, this week and this month against the last one, per day and member, and
on what."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from dashboard.overview.queries.date_range import (
    ONE_DAY,
    day_month_text,
    first_of_previous_month,
    same_day_previous_month,
    week_start,
    weekday_date_text,
)
from dashboard.overview.queries.sums import ZERO_CREDITS, MemberSpend, OverviewSums
from dashboard.shared.charts import (
    OTHERS_TONE,
    OUTSIDE_TONE,
    BarChart,
    BarColumn,
    BarSeries,
    assign_member_tones,
    build_bar_chart,
)
from dashboard.shared.feature_labels import OUTSIDE_LABEL as ELSEWHERE_NAME
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import credits

OTHERS_KEY, OUTSIDE_KEY = "others", "outside"


@dataclass(frozen=True, slots=True)
class SpendComparison:
    """Credits of a span that runs, beside the one before it."""

    label: str
    spent: Decimal
    previous: str


@dataclass(frozen=True, slots=True)
class SpendShare:
    """`part` of the longest bar, `of_all` of the sum, both in percent."""

    name: str
    tone: str
    spent: Decimal
    bar_percent: float
    total_percent: float
    count: int = 0

    @property
    def share_text(self) -> str:
        if 0 < self.total_percent < 1:
            return "under 1 %"
        return f"{round(self.total_percent)} %"


@dataclass(frozen=True, slots=True)
class SpendOverview:
    facts: tuple[SpendComparison, ...]
    bars: BarChart
    summary: str
    members: tuple[SpendShare, ...]
    features: tuple[SpendShare, ...]
    total: Decimal
    note: str

    @property
    def is_empty(self) -> bool:
        return not self.total


def build_spend_overview(sums: OverviewSums) -> SpendOverview:
    window = sums.window
    total = sums.spent_between(window.first, window.today)
    return SpendOverview(
        facts=tuple(build_spend_comparisons(sums)),
        bars=build_spend_bars(sums, total),
        summary=f"{credits(total)} cr {window.period_text}.",
        members=tuple(member_spend_shares(sums, total)),
        features=tuple(feature_spend_shares(sums, total)),
        total=total,
        note=f"{credits(total)} cr since {day_month_text(window.first)}",
    )


def build_spend_comparisons(sums: OverviewSums) -> Iterator[SpendComparison]:
    """The span before is shown as far as the same day, and whole."""
    today = sums.window.today
    monday, first = week_start(today), today.replace(day=1)
    yield SpendComparison(
        "Today",
        sums.spent_between(today, today),
        f"yesterday {credits(sums.spent_between(today - ONE_DAY, today - ONE_DAY))}",
    )
    by_now = sums.spent_between(monday - 7 * ONE_DAY, today - 7 * ONE_DAY)
    whole = sums.spent_between(monday - 7 * ONE_DAY, monday - ONE_DAY)
    yield SpendComparison(
        "This week",
        sums.spent_between(monday, today),
        f"last week {credits(by_now)} by {today:%A}, {credits(whole)} in all",
    )
    before = first_of_previous_month(today)
    same = same_day_previous_month(today)
    by_now, whole = sums.spent_between(before, same), sums.spent_between(before, first - ONE_DAY)
    yield SpendComparison(
        "This month",
        sums.spent_between(first, today),
        f"{before:%B} {credits(by_now)} by the {ordinal(same.day)}, {credits(whole)} in all",
    )


def ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def build_spend_bars(sums: OverviewSums, total: Decimal) -> BarChart:
    """The members who spent most in their own colours; what nobody of ours spent on top."""
    window = sums.window
    days: dict[date, dict[str, Decimal]] = {day: defaultdict(Decimal) for day in window.days}
    for row in sums.team_days:
        if row.day in days and not row.is_credit:
            days[row.day][OTHERS_KEY if row.is_matched else OUTSIDE_KEY] -= row.amount
    for row in sums.coloured_member_days:
        if row.day in days:
            days[row.day][str(row.member)] -= row.amount
            days[row.day][OTHERS_KEY] += row.amount
    return build_bar_chart(
        spend_series(sums.coloured_members),
        [
            BarColumn(
                weekday_date_text(day),
                "today" if day == window.today else day_month_text(day),
                amounts,
                is_now=day == window.today,
            )
            for day, amounts in days.items()
        ],
        f"Credits spent per day and member {window.period_text}, {credits(total)} in all",
    )


def spend_series(coloured: Sequence[MemberSpend]) -> list[BarSeries]:
    colours = assign_member_tones(one.id for one in coloured)
    own = [BarSeries(str(one.id), one.first_name, colours[one.id]) for one in coloured]
    return [
        BarSeries(OTHERS_KEY, "others", OTHERS_TONE),
        *own,
        BarSeries(OUTSIDE_KEY, "outside the portal", OUTSIDE_TONE),
    ]


def member_spend_shares(sums: OverviewSums, total: Decimal) -> Iterator[SpendShare]:
    """Who spent most first; then everybody else together, and what came from outside."""
    colours = assign_member_tones(one.id for one in sums.coloured_members)
    found = [(one.name, colours.get(one.id, OTHERS_TONE), one.spent) for one in sums.spenders]
    if sums.others.member_count:
        found.append((others_label(sums.others.member_count), OTHERS_TONE, sums.others.spent))
    outside = sums.outside_spend_between(sums.window.first, sums.window.today)
    if outside:
        found.append((ELSEWHERE_NAME, OUTSIDE_TONE, outside))
    most = max((spent for _, _, spent in found), default=ZERO_CREDITS)
    for name, tone, spent in found:
        yield build_spend_share(name, tone, spent, most, total)


def others_label(people: int) -> str:
    return "1 other" if people == 1 else f"{people:,} others"


def feature_spend_shares(sums: OverviewSums, total: Decimal) -> Iterator[SpendShare]:
    spent: dict[str, Decimal] = defaultdict(Decimal)
    count: dict[str, int] = defaultdict(int)
    for row in sums.feature_rows:
        name = feature_label(row.operation) if row.is_matched else ELSEWHERE_NAME
        spent[name] -= row.amount
        count[name] += row.entries
    most = max(spent.values(), default=ZERO_CREDITS)
    for name in sorted(spent, key=lambda name: (-spent[name], name)):
        yield build_spend_share(name, "", spent[name], most, total, count[name])


def build_spend_share(
    name: str, tone: str, spent: Decimal, most: Decimal, total: Decimal, count: int = 0
) -> SpendShare:
    part = float(100 * spent / most) if most else 0.0
    return SpendShare(name, tone, spent, part, float(100 * spent / total) if total else 0.0, count)
