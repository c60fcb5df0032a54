"""The team's spend: today, this week and this month compared with the previous ones, per day and
member, and per feature."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from dashboard.overview.queries.sums import (
    ONE_DAY,
    ZERO_CREDITS,
    MemberSpend,
    OverviewSums,
    day_month_text,
    first_of_previous_month,
    same_day_previous_month,
    week_start,
    weekday_date_text,
)
from dashboard.shared.charts import (
    OTHERS_TONE,
    OUTSIDE_TONE,
    SERIES_TONES,
    BarChart,
    BarColumn,
    BarSeries,
    build_bar_chart,
)
from dashboard.shared.feature_labels import OUTSIDE_LABEL as ELSEWHERE_NAME
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import credits, money
from proxyapi.models.credit_price import CreditPrice

OTHERS_KEY, OUTSIDE_KEY = "others", "outside"
MAX_LISTED_MEMBERS = 8


@dataclass(frozen=True, slots=True)
class SpendComparison:
    """Credits spent in the current period, with the text about the previous one. `money`: the
    credits in money, empty where it is not shown."""

    label: str
    spent: Decimal
    previous: str
    money: str = ""


@dataclass(frozen=True, slots=True)
class SpendShare:
    """`bar_percent` is relative to the longest bar, `total_percent` to the sum."""

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


def build_spend_overview(sums: OverviewSums, price: CreditPrice | None = None) -> SpendOverview:
    window = sums.window
    total = sums.spent_between(window.first, window.today)
    return SpendOverview(
        facts=tuple(build_spend_comparisons(sums, price)),
        bars=build_spend_bars(sums, total),
        summary=f"{credits(total)} cr {window.period_text}.",
        members=tuple(member_spend_shares(sums, total)),
        features=tuple(feature_spend_shares(sums, total)),
        total=total,
        note=f"{credits(total)} cr since {day_month_text(window.first)}",
    )


def build_spend_comparisons(
    sums: OverviewSums, price: CreditPrice | None = None
) -> Iterator[SpendComparison]:
    """The previous period is given up to the same day and in total."""
    today = sums.window.today
    monday, first = week_start(today), today.replace(day=1)
    yield SpendComparison(
        "Today",
        sums.spent_between(today, today),
        f"yesterday {credits(sums.spent_between(today - ONE_DAY, today - ONE_DAY))}",
    )
    previous_to_date = sums.spent_between(monday - 7 * ONE_DAY, today - 7 * ONE_DAY)
    previous_total = sums.spent_between(monday - 7 * ONE_DAY, monday - ONE_DAY)
    yield SpendComparison(
        "This week",
        sums.spent_between(monday, today),
        f"last week {credits(previous_to_date)} by {today:%A}, {credits(previous_total)} in total",
    )
    previous_month = first_of_previous_month(today)
    same_day = same_day_previous_month(today)
    previous_to_date, previous_total = (
        sums.spent_between(previous_month, same_day),
        sums.spent_between(previous_month, first - ONE_DAY),
    )
    spent = sums.spent_between(first, today)
    yield SpendComparison(
        "This month",
        spent,
        f"{previous_month:%B} {credits(previous_to_date)} by the {ordinal(same_day.day)}, "
        f"{credits(previous_total)} in total",
        money(spent, price),
    )


def ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def build_spend_bars(sums: OverviewSums, total: Decimal) -> BarChart:
    """One bar per day: the members who joined first have their own colours; spend outside the
    portal is on top."""
    window = sums.window
    members_with_tone = sorted(
        (member for member in sums.members if member.place is not None),
        key=lambda member: member.place or 0,
    )
    return build_bar_chart(
        [
            BarSeries(OTHERS_KEY, "others", OTHERS_TONE),
            *(
                BarSeries(str(spend.id), spend.first_name, member_tone(spend))
                for spend in members_with_tone
            ),
            BarSeries(OUTSIDE_KEY, "outside the portal", OUTSIDE_TONE),
        ],
        [
            BarColumn(
                weekday_date_text(day),
                "today" if day == window.today else day_month_text(day),
                day_amounts(sums, members_with_tone, day),
                is_now=day == window.today,
            )
            for day in window.days
        ],
        f"Credits spent per day and member {window.period_text}, {credits(total)} in total",
    )


def day_amounts(
    sums: OverviewSums, members_with_tone: Sequence[MemberSpend], day: date
) -> dict[str, Decimal]:
    """Credits of one day by series key."""
    own = {
        str(member.id): member.spent_by_day.get(day, ZERO_CREDITS) for member in members_with_tone
    }
    outside = sums.outside.get(day, ZERO_CREDITS)
    others = sums.debits.get(day, ZERO_CREDITS) - outside - sum(own.values(), ZERO_CREDITS)
    return {OTHERS_KEY: others, **own, OUTSIDE_KEY: outside}


def member_tone(member: MemberSpend) -> str:
    return OTHERS_TONE if member.place is None else SERIES_TONES[member.place]


def member_spend_shares(sums: OverviewSums, total: Decimal) -> Iterator[SpendShare]:
    """By spend, highest first; then all other members together, then spend outside the portal."""
    listed, others = sums.members[:MAX_LISTED_MEMBERS], sums.members[MAX_LISTED_MEMBERS:]
    shares = [(member.name, member_tone(member), member.spent) for member in listed]
    if others:
        spent = sum((member.spent for member in others), ZERO_CREDITS)
        shares.append((others_label(len(others)), OTHERS_TONE, spent))
    if sums.outside_in_window:
        shares.append((ELSEWHERE_NAME, OUTSIDE_TONE, sums.outside_in_window))
    most = max((spent for _, _, spent in shares), default=ZERO_CREDITS)
    for name, tone, spent in shares:
        yield build_spend_share(name, tone, spent, most, total)


def others_label(people: int) -> str:
    return "1 other" if people == 1 else f"{people:,} others"


def feature_spend_shares(sums: OverviewSums, total: Decimal) -> Iterator[SpendShare]:
    spent: dict[str, Decimal] = defaultdict(Decimal)
    count: dict[str, int] = defaultdict(int)
    window_rows = (row for day in sums.window.days for row in sums.days.get(day, ()))
    for row in window_rows:
        if row.is_credit:
            continue
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
