"""What the ledger's days add up to, for every figure of the overview, in one statement.

Its parts: the team's days; of the window what came, each feature's sum, those of the members who
spent most, and of all members; who joined first and so has a colour in charts, and the days of
those.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from django.db.models import (
    BigIntegerField,
    Case,
    CharField,
    Count,
    DateField,
    DecimalField,
    F,
    OuterRef,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Cast, Trim
from django.db.models.lookups import Exact

from dashboard.models import Membership, Team, User
from dashboard.overview.queries.date_range import ReportWindow, first_of_previous_month
from proxyapi.models import DailyTotal, DailyTotalByLabel, DailyTotalByMember, DailyTotalByOperation
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum

MAX_COLOURED_MEMBERS, MAX_LISTED_MEMBERS = 5, 8
ZERO_CREDITS = Decimal(0)
MembershipQuerySet: TypeAlias = QuerySet[Membership, Any]


class DaySumRow(NamedTuple):
    """`amount` is signed credits."""

    part: str
    day: date | None
    member: int | None
    name: str
    operation: str
    label: str
    is_credit: bool
    is_matched: bool
    amount: Decimal
    entries: int


class DayDebits(NamedTuple):
    """Of a day, positive; `outside` is the part of it that no charge of ours explains."""

    total: Decimal = ZERO_CREDITS
    outside: Decimal = ZERO_CREDITS


class MemberSpend(NamedTuple):
    id: int
    name: str
    spent: Decimal

    @property
    def first_name(self) -> str:
        """As `User.first_name`, for a name that may be an e-mail address."""
        return (self.name.split() or ["member"])[0].partition("@")[0]


class OtherMembersSpend(NamedTuple):
    """Members beside those who spent most."""

    member_count: int
    spent: Decimal


@dataclass(frozen=True, slots=True)
class OverviewSums:
    """Sums are positive credits unless they say otherwise. Days outside the rows are nothing."""

    window: ReportWindow
    team_days: tuple[DaySumRow, ...]
    received_rows: tuple[DaySumRow, ...]
    feature_rows: tuple[DaySumRow, ...]
    spenders: tuple[MemberSpend, ...]
    others: OtherMembersSpend
    coloured_members: tuple[MemberSpend, ...]
    coloured_member_days: tuple[DaySumRow, ...]

    debits: Mapping[date, DayDebits]

    @property
    def first_day(self) -> date | None:
        return min((row.day for row in self.team_days if row.day), default=None)

    def spent_between(self, first: date, last: date) -> Decimal:
        """Debits from one day to another, both included."""
        return sum((it.total for it in self.debits_between(first, last)), ZERO_CREDITS)

    def outside_spend_between(self, first: date, last: date) -> Decimal:
        """Debits that no charge of ours explains."""
        return sum((it.outside for it in self.debits_between(first, last)), ZERO_CREDITS)

    def debits_between(self, first: date, last: date) -> Iterator[DayDebits]:
        return (it for day, it in self.debits.items() if first <= day <= last)


def load_overview_sums(
    team: Team, accounts: Collection[UUID], window: ReportWindow
) -> OverviewSums:
    """One query; the team's days reach back to the first of the month before."""
    since = min(window.first, first_of_previous_month(window.today))
    first = team.memberships.order_by("user_id").values("user")[:MAX_COLOURED_MEMBERS]
    parts = (
        received_credits_query(accounts, window),
        feature_spend_query(accounts, window),
        member_spend_query(accounts, window),
        all_members_spend_query(accounts, window),
        coloured_member_days_query(accounts, window, first),
        coloured_members_query(team, first),
    )
    statement = team_days_query(accounts, since).union(*parts, all=True)
    found: dict[str, list[DaySumRow]] = defaultdict(list)
    for values in statement:
        row = DaySumRow(*values)
        found[row.part].append(row)
    spenders = sorted(
        map(build_member_spend, found["member"]), key=lambda one: (-one.spent, one.id)
    )
    return OverviewSums(
        window=window,
        team_days=tuple(found["team"]),
        received_rows=tuple(found["came"]),
        feature_rows=tuple(found["feature"]),
        spenders=tuple(spenders),
        others=other_members_spend(found["all"], spenders),
        coloured_members=tuple(sorted(map(build_member_spend, found["colour"]))),
        coloured_member_days=tuple(found["day"]),
        debits=debits_by_day(found["team"]),
    )


def debits_by_day(team: Iterable[DaySumRow]) -> dict[date, DayDebits]:
    days: dict[date, DayDebits] = defaultdict(DayDebits)
    for row in team:
        if row.day is None or row.is_credit:
            continue
        all_, outside = days[row.day]
        days[row.day] = DayDebits(
            all_ - row.amount, outside if row.is_matched else outside - row.amount
        )
    return dict(days)


def build_member_spend(row: DaySumRow) -> MemberSpend:
    return MemberSpend(row.member or 0, row.name, -row.amount)


def other_members_spend(
    everybody: Iterable[DaySumRow], spenders: Collection[MemberSpend]
) -> OtherMembersSpend:
    people = sum(row.entries for row in everybody) - len(spenders)
    spent = -sum((row.amount for row in everybody), ZERO_CREDITS)
    return OtherMembersSpend(people, spent - sum((one.spent for one in spenders), ZERO_CREDITS))


def team_days_query(accounts: Collection[UUID], since: date) -> QuerySet[DailyTotal, Any]:
    rows = DailyTotal.objects.filter(account__in=accounts, day__gte=since).order_by()
    return (
        rows.annotate(
            part=constant_text("team"),
            of=null_member_id(),
            name=constant_text(""),
            what=constant_text(""),
            label=constant_text(""),
        )
        .values_list("part", "day", "of", "name", "what", "label", "is_credit", "is_matched")
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    )


def received_credits_query(
    accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByLabel, Any]:
    """What came is told by its label."""
    rows = DailyTotalByLabel.objects.filter(
        account__in=accounts, day__gte=window.first, is_credit=True
    )
    named = rows.order_by().annotate(
        part=constant_text("came"),
        of=null_member_id(),
        name=constant_text(""),
        what=constant_text(""),
    )
    return named.values_list(
        "part", "day", "of", "name", "what", "label", "is_credit", "is_matched"
    ).annotate(sum=CreditSum("amount"), rows=Sum("entries"))


def feature_spend_query(
    accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByOperation, Any]:
    rows = DailyTotalByOperation.objects.filter(account__in=accounts, is_credit=False)
    rows = rows.filter(day__gte=window.first, day__lte=window.today).order_by()
    return (
        rows.annotate(
            part=constant_text("feature"),
            never=null_date(),
            of=null_member_id(),
            name=constant_text(""),
            label=constant_text(""),
        )
        .values_list("part", "never", "of", "name", "operation", "label", "is_credit", "is_matched")
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    )


def member_spend_query(
    accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByMember, Any]:
    most = member_debits_query(accounts, window).values("member").annotate(sum=CreditSum("amount"))
    first = most.order_by("sum", "member").values("member")[:MAX_LISTED_MEMBERS]
    shown = member_debits_query(accounts, window).filter(member__in=first)
    rows = shown.values("member", "is_credit", "is_matched")
    # Once a member: joined, or grouped by, a name would be looked up for each of their days.
    users = User.objects.filter(pk=OuterRef("member"))
    name = Subquery(users.annotate(called=member_name_expression("")).values("called"))
    return (
        rows.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
        .annotate(
            part=constant_text("member"),
            never=null_date(),
            name=name,
            nothing=constant_text(""),
            none=constant_text(""),
        )
        .values_list(
            *("part", "never", "member", "name", "nothing", "none", "is_credit", "is_matched"),
            *("sum", "rows"),
        )
    )


def all_members_spend_query(
    accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByMember, Any]:
    """What all members spent, and how many they are."""
    rows = member_debits_query(accounts, window).values("is_credit", "is_matched")
    return (
        rows.annotate(sum=CreditSum("amount"), count=Count("member", distinct=True))
        .annotate(
            part=constant_text("all"),
            never=null_date(),
            of=null_member_id(),
            name=constant_text(""),
        )
        .annotate(nothing=constant_text(""), none=constant_text(""))
        .values_list(
            *("part", "never", "of", "name", "nothing", "none", "is_credit", "is_matched"),
            *("sum", "count"),
        )
    )


def coloured_member_days_query(
    accounts: Collection[UUID], window: ReportWindow, first: MembershipQuerySet
) -> QuerySet[DailyTotalByMember, Any]:
    rows = (
        member_debits_query(accounts, window)
        .filter(member__in=first)
        .annotate(
            part=constant_text("day"),
            name=constant_text(""),
            nothing=constant_text(""),
            none=constant_text(""),
        )
    )
    return rows.values_list(
        "part", "day", "member", "name", "nothing", "none", "is_credit", "is_matched"
    ).annotate(sum=CreditSum("amount"), rows=Sum("entries"))


def coloured_members_query(team: Team, first: MembershipQuerySet) -> QuerySet[Membership, Any]:
    return (
        team.memberships.filter(user__in=first)
        .order_by()
        .annotate(
            part=constant_text("colour"),
            never=null_date(),
            called=member_name_expression("user__"),
            nothing=constant_text(""),
            none=constant_text(""),
            no=Value(False),
            zero=Cast(Value(0), DecimalField(**CREDIT_FIELD_OPTIONS)),
            rows=Value(0),
        )
        .values_list(
            "part", "never", "user", "called", "nothing", "none", "no", "no", "zero", "rows"
        )
    )


def member_name_expression(user: str) -> Case:
    """The name, or of who has none the address."""
    blank = When(Exact(Trim(f"{user}name"), Value("")), then=F(f"{user}email"))
    return Case(blank, default=F(f"{user}name"), output_field=CharField())


def member_debits_query(
    accounts: Collection[UUID], window: ReportWindow
) -> QuerySet[DailyTotalByMember]:
    return DailyTotalByMember.objects.filter(
        account__in=accounts,
        day__gte=window.first,
        day__lte=window.today,
        is_credit=False,
        member__isnull=False,
    ).order_by()


def constant_text(words: str) -> Cast:
    return Cast(Value(words), CharField(max_length=200))


def null_date() -> Cast:
    return Cast(Value(None), DateField())


def null_member_id() -> Cast:
    return Cast(Value(None), BigIntegerField())
