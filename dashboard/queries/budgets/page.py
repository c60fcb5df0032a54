"""The page of the budgets: members see their own and the team's, the treasurer all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from dashboard.access import can
from dashboard.caps import Standing, standings
from dashboard.models import Budget, Membership, Period
from dashboard.queries.budgets.asks import Waiting, waiting_of
from dashboard.queries.budgets.history import Change, history_of
from dashboard.queries.budgets.meter import NAMES, Meter, limits, meter_of, share
from dashboard.roles import Permission

ORDER = {period.value: number for number, period in enumerate(Period)}
COLOURS = 6  # marks of members in order of joining; from the seventh on, "others"


@dataclass(frozen=True, slots=True)
class Row:
    """One budget. `mark` is the member's colour, empty for the team; `may_edit`: the reader's."""

    id: UUID
    who: str
    mark: str
    is_me: bool
    period: str
    until: str
    limits: str
    meter: Meter
    spent: Decimal
    held: Decimal
    left: Decimal | None
    share: str
    may_edit: bool


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """`unbound`: members without a budget of their own, for those who may give them one."""

    groups: tuple[Group, ...]
    waiting: tuple[Waiting, ...]
    changes: tuple[Change, ...]
    unbound: tuple[str, ...]
    may_edit: bool
    note: str


def page_of(reader: Membership) -> Page:
    """At most twelve queries, however many members there are."""
    may_edit = can(reader, Permission.MANAGE_MONEY)
    budgets = Budget.objects.filter(team=reader.team, active=True)
    if not may_edit:
        budgets = budgets.filter(Q(member=reader.user_id) | Q(member=None))
    members = list(reader.team.memberships.select_related("user"))
    found = standings(reader.team, budgets, timezone.now())
    return Page(
        groups=tuple(groups(found, members, reader, may_edit=may_edit)),
        waiting=waiting_of(reader),
        changes=history_of(reader),
        unbound=unbound(found, members) if may_edit else (),
        may_edit=may_edit,
        note=note_of(found, may_edit=may_edit),
    )


def groups(
    found: Sequence[Standing], members: Sequence[Membership], reader: Membership, *, may_edit: bool
) -> Iterable[Group]:
    """The team first, then the members in order of joining, short periods before long ones."""
    places = {member.user_id: place for place, member in enumerate(members)}
    names = {member.user_id: str(member.user) for member in members}
    ordered = sorted(found, key=lambda one: ORDER[one.budget.period])
    team = [one for one in ordered if one.budget.member_id is None]
    own = [one for one in ordered if one.budget.member_id in places]
    own.sort(key=lambda one: places[one.budget.member_id or 0])
    if team:
        rows = (row_of(one, "The whole team", "", reader, may_edit=may_edit) for one in team)
        yield Group("Team", tuple(rows))
    if own:
        marked = [(one, one.budget.member_id or 0) for one in own]
        rows = (
            row_of(one, names[who], mark_of(places[who]), reader, may_edit=may_edit)
            for one, who in marked
        )
        yield Group("Members" if may_edit else "You", tuple(rows))


def mark_of(place: int) -> str:
    return f"m{place + 1}" if place < COLOURS else "outside"


def row_of(one: Standing, who: str, mark: str, reader: Membership, *, may_edit: bool) -> Row:
    return Row(
        id=one.budget.pk,
        who=who,
        mark=mark,
        is_me=one.budget.member_id == reader.user_id,
        period=NAMES[Period(one.budget.period)].capitalize(),
        until=one.until,
        limits=limits(one),
        meter=meter_of(one),
        spent=one.spent,
        held=one.held,
        left=one.left,
        share=share(one),
        may_edit=may_edit,
    )


def unbound(found: Sequence[Standing], members: Sequence[Membership]) -> tuple[str, ...]:
    bound = {one.budget.member_id for one in found}
    makers = [member for member in members if can(member, Permission.RENDER)]
    return tuple(member.user.first_name for member in makers if member.user_id not in bound)


def note_of(found: Sequence[Standing], *, may_edit: bool) -> str:
    if not found:
        return "Nobody is limited yet." if may_edit else "Nothing limits you here."
    reached = sum(one.state == "failed" for one in found)
    near = sum(one.state == "late" for one in found)
    if reached:
        return f"{counted(reached)} at the limit: nothing more is sent there without a word."
    return f"{counted(near)} past the alert." if near else "All within their limits."


def counted(number: int) -> str:
    return "One budget is" if number == 1 else f"{number} budgets are"
