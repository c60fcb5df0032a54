"""Daily ledger sums for the overview, by operation and by member, over the last 30 days or the
current month in the team's time zone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import (
    BigIntegerField,
    Case,
    CharField,
    F,
    IntegerField,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Trim
from django.db.models.lookups import Exact
from django.urls import reverse

from dashboard.models import Team, User
from dashboard.shared.charts import SERIES_TONES
from proxyapi.models import DailyTotalByLabel, DailyTotalByMember
from proxyapi.rollups.daily_totals import CreditSum

ONE_DAY = timedelta(days=1)
WINDOW_LABELS = {"": "30 days", "month": "This month"}
ZERO_CREDITS = Decimal(0)
# The user's name, or the email address if there is none.
SHOWN_NAME = Case(
    When(Exact(Trim("name"), Value("")), then=F("email")),
    default=F("name"),
    output_field=CharField(),
)


@dataclass(frozen=True, slots=True)
class WindowChoice:
    label: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class ReportWindow:
    """From `first` to `today`, both included."""

    name: str
    first: date
    today: date

    @property
    def days(self) -> tuple[date, ...]:
        return tuple(
            self.first + ONE_DAY * number for number in range((self.today - self.first).days + 1)
        )

    @property
    def period_text(self) -> str:
        """`this month` or `in the last 30 days`."""
        return "this month" if self.name == "month" else "in the last 30 days"

    @property
    def choices(self) -> tuple[WindowChoice, ...]:
        return tuple(
            WindowChoice(label, url_with_span("overview", name), name == self.name)
            for name, label in WINDOW_LABELS.items()
        )

    @property
    def export_url(self) -> str:
        """The URL of the ledger export for these days."""
        month = f"?period={self.first:%Y-%m}" if self.name == "month" else ""
        return f"{reverse('ledger-export')}{month}"

    @property
    def part_url(self) -> str:
        """The URL from which a part of the page refreshes; the part's name is appended."""
        span = f"span={self.name}&" if self.name else ""
        return f"{reverse('overview')}?{span}part="


def url_with_span(page: str, span: str) -> str:
    return f"{reverse(page)}?span={span}" if span else reverse(page)


def window_for_span(name: str, zone: ZoneInfo, now: datetime) -> ReportWindow:
    """The requested window; 30 days for an unknown name."""
    today = now.astimezone(zone).date()
    if name == "month":
        return ReportWindow(name, today.replace(day=1), today)
    return ReportWindow("", today - 29 * ONE_DAY, today)


def week_start(day: date) -> date:
    """The Monday of the week."""
    return day - timedelta(days=day.weekday())


def first_of_previous_month(day: date) -> date:
    return (day.replace(day=1) - ONE_DAY).replace(day=1)


def same_day_previous_month(day: date) -> date:
    """The same day of the previous month, or its last day if that month is shorter."""
    last = day.replace(day=1) - ONE_DAY
    return last.replace(day=min(day.day, last.day))


def weekday_date_text(day: date) -> str:
    """`Fri 20 Nov`"""
    return f"{day:%a} {day.day} {day:%b}"


def day_month_text(day: date) -> str:
    """`20 Nov`"""
    return f"{day.day} {day:%b}"


class DaySumRow(NamedTuple):
    """The sum of a day and label, or of a member; a member's row has a day only if it has a
    `place`. `amount` is in signed credits. `label` is set for credits and members only."""

    day: date | None
    is_credit: bool
    is_matched: bool
    operation: str
    label: str
    member: int | None
    place: int | None
    amount: Decimal
    entries: int


@dataclass(slots=True)
class MemberSpend:
    """`place` is the index among the members with a chart colour; only those have sums by day."""

    id: int
    name: str
    place: int | None
    spent: Decimal
    spent_by_day: dict[date, Decimal]

    @property
    def first_name(self) -> str:
        """Like `User.first_name`, for a name that may be an email address."""
        return (self.name.split() or ["member"])[0].partition("@")[0]


@dataclass(frozen=True, slots=True)
class OverviewSums:
    """Sums in positive credits. `outside` is the part of `debits` that no charge explains.

    `members` are those who spent credits in the window, highest spend first.
    """

    window: ReportWindow
    days: Mapping[date, list[DaySumRow]]
    debits: Mapping[date, Decimal]
    outside: Mapping[date, Decimal]
    members: tuple[MemberSpend, ...]

    @property
    def first_day(self) -> date | None:
        return min(self.days, default=None)

    def spent_between(self, first: date, last: date) -> Decimal:
        """Debits of the days from `first` to `last`, both included."""
        return sum_days(self.debits, first, last)

    @property
    def outside_in_window(self) -> Decimal:
        return sum_days(self.outside, self.window.first, self.window.today)


def sum_days(credits_by_day: Mapping[date, Decimal], first: date, last: date) -> Decimal:
    return sum(
        (amount for day, amount in credits_by_day.items() if first <= day <= last), ZERO_CREDITS
    )


def load_overview_sums(
    team: Team, accounts: Collection[UUID], window: ReportWindow
) -> OverviewSums:
    """One query; the days reach back to the first of the previous month."""
    since = min(window.first, first_of_previous_month(window.today))
    members = member_sums(team, accounts, window)
    days: dict[date, list[DaySumRow]] = defaultdict(list)
    debits: dict[date, Decimal] = defaultdict(Decimal)
    outside: dict[date, Decimal] = defaultdict(Decimal)
    member_rows: list[DaySumRow] = []
    for row in map(DaySumRow._make, day_sums(accounts, since).union(members, all=True)):
        if row.member or not row.day:
            member_rows.append(row)
            continue
        days[row.day].append(row)
        if not row.is_credit:
            debits[row.day] -= row.amount
            outside[row.day] -= ZERO_CREDITS if row.is_matched else row.amount
    return OverviewSums(
        window=window,
        days=days,
        debits=debits,
        outside=outside,
        members=collect_member_spend(member_rows),
    )


def collect_member_spend(rows: Iterable[DaySumRow]) -> tuple[MemberSpend, ...]:
    members: dict[int, MemberSpend] = {}
    for row in rows:
        member = MemberSpend(
            row.member or 0, row.label, row.place, ZERO_CREDITS, defaultdict(Decimal)
        )
        member = members.setdefault(member.id, member)
        member.spent -= row.amount
        if row.day:
            member.spent_by_day[row.day] -= row.amount
    return tuple(sorted(members.values(), key=lambda member: (-member.spent, member.id)))


def day_sums(accounts: Collection[UUID], since: date) -> QuerySet[DailyTotalByLabel, Any]:
    credit_label = Case(
        When(is_credit=True, then=F("label")), default=Value(""), output_field=CharField()
    )
    rows = DailyTotalByLabel.objects.filter(account__in=accounts, day__gte=since).order_by()
    return (
        rows.annotate(
            credit_label=credit_label,
            nobody=Value(None, output_field=BigIntegerField()),
            no_place=Value(None, output_field=IntegerField()),
        )
        .values_list(
            *("day", "is_credit", "is_matched", "operation", "credit_label", "nobody", "no_place")
        )
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    )


def member_sums(
    team: Team, accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByMember, Any]:
    """Spend by member; by day for the members who joined first, who have a colour in charts."""
    first = team.memberships.order_by("user_id").values("user")
    place_cases = [
        When(member=Subquery(first[index : index + 1]), then=Value(index))
        for index in range(len(SERIES_TONES))
    ]
    # A subquery runs once per member; a join would look up the name for each of their days.
    user = User.objects.filter(pk=OuterRef("member"))
    rows = DailyTotalByMember.objects.filter(
        account__in=accounts, is_credit=False, member__isnull=False
    ).filter(day__gte=window.first, day__lte=window.today)
    return (
        rows.annotate(place=Case(*place_cases, default=None, output_field=IntegerField()))
        .annotate(place_day=Case(When(place__isnull=False, then=F("day"))))
        .order_by()
        .values("member", "place", "place_day", "is_credit", "is_matched")
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
        .annotate(name=Subquery(user.annotate(shown=SHOWN_NAME).values("shown")), none=Value(""))
        .values_list(
            *("place_day", "is_credit", "is_matched", "none", "name", "member", "place"),
            *("sum", "rows"),
        )
    )
