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
from dashboard.queries.overview.window import Window, month_before
from proxyapi.models import DailyTotal, DailyTotalByLabel, DailyTotalByMember, DailyTotalByOperation
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum

MOST_COLOURS, MOST_MEMBERS = 5, 8
NOTHING = Decimal(0)
People: TypeAlias = QuerySet[Membership, Any]


class Row(NamedTuple):
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


class Debits(NamedTuple):
    """Of a day, positive; `outside` is the part of it that no charge of ours explains."""

    all: Decimal = NOTHING
    outside: Decimal = NOTHING


class Spender(NamedTuple):
    id: int
    name: str
    spent: Decimal

    @property
    def first_name(self) -> str:
        """As `User.first_name`, for a name that may be an e-mail address."""
        return (self.name.split() or ["member"])[0].partition("@")[0]


class Others(NamedTuple):
    """Members beside those who spent most."""

    people: int
    spent: Decimal


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums are positive credits unless they say otherwise. Days outside the rows are nothing."""

    window: Window
    team: tuple[Row, ...]
    came: tuple[Row, ...]
    features: tuple[Row, ...]
    spenders: tuple[Spender, ...]
    others: Others
    coloured: tuple[Spender, ...]
    days: tuple[Row, ...]

    debits: Mapping[date, Debits]

    @property
    def first_day(self) -> date | None:
        return min((row.day for row in self.team if row.day), default=None)

    def spent(self, first: date, last: date) -> Decimal:
        """Debits from one day to another, both included."""
        return sum((it.all for it in self.debits_between(first, last)), NOTHING)

    def outside(self, first: date, last: date) -> Decimal:
        """Debits that no charge of ours explains."""
        return sum((it.outside for it in self.debits_between(first, last)), NOTHING)

    def debits_between(self, first: date, last: date) -> Iterator[Debits]:
        return (it for day, it in self.debits.items() if first <= day <= last)


def sums_of(team: Team, accounts: Collection[UUID], window: Window) -> Sums:
    """One query; the team's days reach back to the first of the month before."""
    since = min(window.first, month_before(window.today))
    first = team.memberships.order_by("user_id").values("user")[:MOST_COLOURS]
    parts = (
        came(accounts, window),
        features(accounts, window),
        members(accounts, window),
        everybody(accounts, window),
        coloured_days(accounts, window, first),
        coloured(team, first),
    )
    statement = flow(accounts, since).union(*parts, all=True)
    found: dict[str, list[Row]] = defaultdict(list)
    for values in statement:
        row = Row(*values)
        found[row.part].append(row)
    spenders = sorted(map(spender, found["member"]), key=lambda one: (-one.spent, one.id))
    return Sums(
        window=window,
        team=tuple(found["team"]),
        came=tuple(found["came"]),
        features=tuple(found["feature"]),
        spenders=tuple(spenders),
        others=others_of(found["all"], spenders),
        coloured=tuple(sorted(map(spender, found["colour"]))),
        days=tuple(found["day"]),
        debits=debits_of(found["team"]),
    )


def debits_of(team: Iterable[Row]) -> dict[date, Debits]:
    days: dict[date, Debits] = defaultdict(Debits)
    for row in team:
        if row.day is None or row.is_credit:
            continue
        all_, outside = days[row.day]
        days[row.day] = Debits(
            all_ - row.amount, outside if row.is_matched else outside - row.amount
        )
    return dict(days)


def spender(row: Row) -> Spender:
    return Spender(row.member or 0, row.name, -row.amount)


def others_of(everybody: Iterable[Row], spenders: Collection[Spender]) -> Others:
    people = sum(row.entries for row in everybody) - len(spenders)
    spent = -sum((row.amount for row in everybody), NOTHING)
    return Others(people, spent - sum((one.spent for one in spenders), NOTHING))


def flow(accounts: Collection[UUID], since: date) -> QuerySet[DailyTotal, Any]:
    rows = DailyTotal.objects.filter(account__in=accounts, day__gte=since).order_by()
    return (
        rows.annotate(part=text("team"), of=nobody(), name=text(""), what=text(""), label=text(""))
        .values_list("part", "day", "of", "name", "what", "label", "is_credit", "is_matched")
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    )


def came(accounts: Collection[UUID], window: Window) -> QuerySet[DailyTotalByLabel, Any]:
    """What came is told by its label."""
    rows = DailyTotalByLabel.objects.filter(
        account__in=accounts, day__gte=window.first, is_credit=True
    )
    named = rows.order_by().annotate(part=text("came"), of=nobody(), name=text(""), what=text(""))
    return named.values_list(
        "part", "day", "of", "name", "what", "label", "is_credit", "is_matched"
    ).annotate(sum=CreditSum("amount"), rows=Sum("entries"))


def features(accounts: Collection[UUID], window: Window) -> QuerySet[DailyTotalByOperation, Any]:
    rows = DailyTotalByOperation.objects.filter(account__in=accounts, is_credit=False)
    rows = rows.filter(day__gte=window.first, day__lte=window.today).order_by()
    return (
        rows.annotate(
            part=text("feature"), never=never(), of=nobody(), name=text(""), label=text("")
        )
        .values_list("part", "never", "of", "name", "operation", "label", "is_credit", "is_matched")
        .annotate(sum=CreditSum("amount"), rows=Sum("entries"))
    )


def members(accounts: Collection[UUID], window: Window) -> QuerySet[DailyTotalByMember, Any]:
    most = debits(accounts, window).values("member").annotate(sum=CreditSum("amount"))
    first = most.order_by("sum", "member").values("member")[:MOST_MEMBERS]
    shown = debits(accounts, window).filter(member__in=first)
    rows = shown.values("member", "is_credit", "is_matched")
    # Once a member: joined, or grouped by, a name would be looked up for each of their days.
    users = User.objects.filter(pk=OuterRef("member"))
    name = Subquery(users.annotate(called=named("")).values("called"))
    return (
        rows.annotate(sum=CreditSum("amount"), rows=Sum("entries"))
        .annotate(part=text("member"), never=never(), name=name, nothing=text(""), none=text(""))
        .values_list(
            *("part", "never", "member", "name", "nothing", "none", "is_credit", "is_matched"),
            *("sum", "rows"),
        )
    )


def everybody(accounts: Collection[UUID], window: Window) -> QuerySet[DailyTotalByMember, Any]:
    """What all members spent, and how many they are."""
    rows = debits(accounts, window).values("is_credit", "is_matched")
    return (
        rows.annotate(sum=CreditSum("amount"), count=Count("member", distinct=True))
        .annotate(part=text("all"), never=never(), of=nobody(), name=text(""))
        .annotate(nothing=text(""), none=text(""))
        .values_list(
            *("part", "never", "of", "name", "nothing", "none", "is_credit", "is_matched"),
            *("sum", "count"),
        )
    )


def coloured_days(
    accounts: Collection[UUID], window: Window, first: People
) -> QuerySet[DailyTotalByMember, Any]:
    rows = (
        debits(accounts, window)
        .filter(member__in=first)
        .annotate(part=text("day"), name=text(""), nothing=text(""), none=text(""))
    )
    return rows.values_list(
        "part", "day", "member", "name", "nothing", "none", "is_credit", "is_matched"
    ).annotate(sum=CreditSum("amount"), rows=Sum("entries"))


def coloured(team: Team, first: People) -> QuerySet[Membership, Any]:
    return (
        team.memberships.filter(user__in=first)
        .order_by()
        .annotate(
            part=text("colour"),
            never=never(),
            called=named("user__"),
            nothing=text(""),
            none=text(""),
            no=Value(False),
            zero=Cast(Value(0), DecimalField(**CREDIT_FIELD_OPTIONS)),
            rows=Value(0),
        )
        .values_list(
            "part", "never", "user", "called", "nothing", "none", "no", "no", "zero", "rows"
        )
    )


def named(user: str) -> Case:
    """The name, or of who has none the address."""
    blank = When(Exact(Trim(f"{user}name"), Value("")), then=F(f"{user}email"))
    return Case(blank, default=F(f"{user}name"), output_field=CharField())


def debits(accounts: Collection[UUID], window: Window) -> QuerySet[DailyTotalByMember]:
    return DailyTotalByMember.objects.filter(
        account__in=accounts,
        day__gte=window.first,
        day__lte=window.today,
        is_credit=False,
        member__isnull=False,
    ).order_by()


def text(words: str) -> Cast:
    return Cast(Value(words), CharField(max_length=200))


def never() -> Cast:
    return Cast(Value(None), DateField())


def nobody() -> Cast:
    return Cast(Value(None), BigIntegerField())
