"""The charts of the ledger: the balance with what came in, and the shares of the features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.db.models import Q

from dashboard.models import Membership
from dashboard.queries.charts import Tick, scale_to
from dashboard.queries.charts.scale import GridLine, thinned
from dashboard.queries.chips import Chip, chip
from dashboard.queries.ledger.banners import Banner, banners_of
from dashboard.queries.ledger.fields import DateFields, fields_of
from dashboard.queries.ledger.figures import NOTHING
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.period import periods
from dashboard.queries.ledger.rows import titled
from dashboard.queries.ledger.scope import Scope, scope_of
from dashboard.queries.ledger.shares import Share, shares_of
from dashboard.queries.ledger.steps import Step, step_of
from dashboard.queries.ledger_end import end_of
from dashboard.templatetags.reelroom import credits
from proxyapi.models import DailyTotal
from proxyapi.rollups.daily_totals import CreditSum

MARKS = 12  # of each kind; of more only the largest are drawn
YEAR = 400  # days; of longer periods the chart begins with the first row
POINTS = 190  # days that are drawn one by one


@dataclass(frozen=True, slots=True)
class Mark:
    """Credits that came on a day, in percent. `kind`: in, for what was bought or given | refund."""

    x: float
    y: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Stop:
    """One day under the pointer: its column in percent, and what it says."""

    x: float
    width: float
    says: str


class Told(NamedTuple):
    """A day, a week or a month as a row of the table."""

    name: str
    came: Decimal
    left: Decimal


@dataclass(frozen=True, slots=True)
class Balance:
    """`head`: what a row of the table is: Day | Week | Month."""

    sentence: str
    grid: tuple[GridLine, ...]
    ticks: tuple[Tick, ...]
    path: str
    area: str
    marks: tuple[Mark, ...]
    stops: tuple[Stop, ...]
    head: str
    table: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class Charts:
    filters: Filters
    chips: tuple[Chip, ...]
    dates: DateFields
    banners: tuple[Banner, ...]
    says: str
    balance: Balance | None
    shares: tuple[Share, ...]
    spent: Decimal
    url: str
    back_url: str


@dataclass(frozen=True, slots=True)
class Came:
    bought: Decimal = NOTHING
    refunded: Decimal = NOTHING

    @property
    def all(self) -> Decimal:
        return self.bought + self.refunded


def charts_of(reader: Membership, filters: Filters) -> Charts:
    """Three queries. The balance knows no members and no features: other filters do not count."""
    kept = Filters(period=filters.period, dates=filters.dates, account=filters.account)
    scope = scope_of(reader.team, kept)
    shares = shares_of(scope)
    return Charts(
        filters=kept,
        chips=tuple(chips_of(scope)),
        dates=fields_of("ledger-charts", kept, scope),
        banners=banners_of(scope),
        says=scope.period.says,
        balance=balance_of(scope),
        shares=shares,
        spent=sum((one.amount for one in shares), NOTHING),
        url=f"{kept.url('ledger-charts')}{'&' if kept.period or kept.account else '?'}part=charts",
        back_url=filters.url(),
    )


def chips_of(scope: Scope) -> Iterator[Chip]:
    filters = Addressed(scope.filters)
    yield chip("period", "Period", periods(scope.filters.period, scope.today), filters, plain=True)
    if len(scope.accounts) > 1:
        names = {str(one.pk): one.name or one.email for one in scope.accounts}
        yield chip("account", "Account", {"": "all", **names}, filters)


@dataclass(frozen=True, slots=True)
class Addressed:
    """The filters as this page's address has them."""

    filters: Filters

    @property
    def period(self) -> str:
        return self.filters.period

    @property
    def account(self) -> object:
        return self.filters.account

    def url(self, **changes: object) -> str:
        return self.filters.url("ledger-charts", **changes)


# The balance --------------------------------------------------------------------------------------
def balance_of(scope: Scope) -> Balance | None:
    """One query. Walks back from the balance of now; nothing where no row is mirrored."""
    known = [one for one in scope.accounts if one.pk in scope.ids and one.balance_as_of]
    nets, came = moved(scope, [one.pk for one in known])
    if not nets:
        return None
    now = sum((end_of(one) for one in known), NOTHING)
    first = scope.period.first if scope.period.days <= YEAR else min(nets)
    ends = day_ends(nets, now, first, max(scope.today, max(nets)))
    days = [day for day in ends if scope.period.first <= day <= min(scope.period.last, scope.today)]
    return drawn(scope, {day: ends[day] for day in days}, came) if days else None


def moved(scope: Scope, ids: Sequence[UUID]) -> tuple[dict[date, Decimal], dict[date, Came]]:
    """What each day since the period's first changed, and what came in on it.

    A refund is a credit that has a charge.
    """
    since = DailyTotal.objects.filter(account_id__in=ids, day__gte=scope.period.first)
    rows = (
        since.order_by()
        .values_list("day")
        .annotate(
            net=CreditSum("amount"),
            bought=CreditSum("amount", filter=Q(is_credit=True, is_matched=False)),
            refunded=CreditSum("amount", filter=Q(is_credit=True, is_matched=True)),
        )
    )
    nets: dict[date, Decimal] = {}
    came: dict[date, Came] = {}
    for day, net, bought, refunded in rows:
        nets[day] = net
        if bought or refunded:
            came[day] = Came(bought or NOTHING, refunded or NOTHING)
    return nets, came


def day_ends(
    nets: Mapping[date, Decimal], now: Decimal, first: date, last: date
) -> dict[date, Decimal]:
    """What was left at the end of each day, in the order of days."""
    left, ends, day = now, {}, last
    while day >= first:
        ends[day] = left
        left -= nets.get(day, NOTHING)
        day -= timedelta(days=1)
    return dict(reversed(ends.items()))


def drawn(scope: Scope, ends: Mapping[date, Decimal], came: Mapping[date, Came]) -> Balance:
    days, scale = list(ends), scale_to(max(*ends.values(), NOTHING))
    step = step_of(days[0], days[-1])
    width = 100 / len(days)
    place = {day: (number + 0.5) * width for number, day in enumerate(days)}
    every = max(1, len(days) // POINTS)
    path = "M" + "L".join(
        f"{place[day]:.2f} {scale.y(ends[day]):.2f}" for day in [*days[::every], days[-1]]
    )
    marks = [
        Mark(
            place[day],
            scale.y(ends[day]),
            kind,
            f"{named(scope, day)}: {words} {credits(amount)} cr",
        )
        for kind, words, day, amount in marked(came, place)
    ]
    stops = (
        Stop(number * width, width * every, says(scope, day, ends, came))
        for number, day in list(enumerate(days))[::every]
    )
    ticks = (Tick(place[day], "today" if day == scope.today else step.short(day)) for day in days)
    return Balance(
        sentence=sentence(scope, ends),
        grid=scale.grid,
        ticks=thinned(list(ticks)),
        path=path,
        area=f"{path}L{place[days[-1]]:.2f} 100L{place[days[0]]:.2f} 100Z",
        marks=tuple(marks),
        stops=tuple(stops),
        head=step.title(),
        table=tuple(told(scope, step, ends, came)),
    )


def told(
    scope: Scope, step: Step, ends: Mapping[date, Decimal], came: Mapping[date, Came]
) -> Iterator[Told]:
    """The newest first: what came in a step, and what was left at the end of it."""
    for start, group in groupby(reversed(list(ends)), key=step.start):
        days = list(group)
        into = sum((came[day].all for day in days if day in came), NOTHING)
        name = named(scope, start) if step is Step.DAY else step.said(start)
        yield Told(name, into, ends[days[0]])


def marked(
    came: Mapping[date, Came], place: Mapping[date, float]
) -> Iterator[tuple[str, str, date, Decimal]]:
    """Kind, words, day and amount of what is drawn: of each kind the largest."""
    kinds = (("in", "credits in", "bought"), ("refund", "refunded", "refunded"))
    for kind, told, name in kinds:
        amounts = {day: getattr(it, name) for day, it in came.items() if day in place}
        largest = sorted((day for day in amounts if amounts[day]), key=lambda day: -amounts[day])
        for day in largest[:MARKS]:
            yield kind, told, day, amounts[day]


def says(scope: Scope, day: date, ends: Mapping[date, Decimal], came: Mapping[date, Came]) -> str:
    parts = [f"{named(scope, day)}: {credits(ends[day])} cr at the end."]
    it = came.get(day, Came())
    if it.bought:
        parts.append(f"{credits(it.bought)} came in.")
    if it.refunded:
        parts.append(f"{credits(it.refunded)} were refunded.")
    return " ".join(parts)


def named(scope: Scope, day: date) -> str:
    return titled(day, scope.today)


def sentence(scope: Scope, ends: Mapping[date, Decimal]) -> str:
    low, high = min(ends, key=lambda day: ends[day]), max(ends, key=lambda day: ends[day])
    return (
        f"{scope.period.says}: the balance ended at {credits(list(ends.values())[-1])} credits. "
        f"Highest {credits(ends[high])} on {high.day} {high:%b %Y}, lowest {credits(ends[low])} on "
        f"{low.day} {low:%b %Y}."
    )
