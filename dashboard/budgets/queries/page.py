"""The page of the budgets: members see their own and the team's, the treasurer all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from dashboard.budgets.queries.approval_requests import (
    ApprovalRequestRow,
    build_approval_request_rows,
)
from dashboard.budgets.queries.history import BudgetHistoryRow, build_budget_history
from dashboard.budgets.queries.meter import (
    BudgetMeter,
    budget_limits_text,
    budget_share_text,
    build_budget_meter,
)
from dashboard.models import Budget, BudgetPeriod, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.budget_usage import PERIOD_NAMES, BudgetUsage, load_budget_usages
from dashboard.shared.roles import Permission

PERIOD_ORDER = {period.value: number for number, period in enumerate(BudgetPeriod)}
MEMBER_COLOUR_COUNT = 6  # marks of members in order of joining; from the seventh on, "others"


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One budget. `mark` is the member's colour, empty for the team; `may_edit`: the reader's."""

    id: UUID
    who: str
    mark: str
    is_me: bool
    period: str
    until: str
    limits: str
    meter: BudgetMeter
    spent: Decimal
    held: Decimal
    left: Decimal | None
    share: str
    may_edit: bool


@dataclass(frozen=True, slots=True)
class BudgetGroup:
    title: str
    rows: tuple[BudgetRow, ...]


@dataclass(frozen=True, slots=True)
class BudgetsPage:
    """`find_members_without_budget`: members without a budget of their own, for those who may give
    them one."""

    groups: tuple[BudgetGroup, ...]
    approval_requests: tuple[ApprovalRequestRow, ...]
    changes: tuple[BudgetHistoryRow, ...]
    members_without_budget: tuple[str, ...]
    may_edit: bool
    note: str


def build_budgets_page(reader: Membership) -> BudgetsPage:
    """At most twelve queries, however many members there are."""
    may_edit = has_permission(reader, Permission.MANAGE_MONEY)
    budgets = Budget.objects.filter(team=reader.team, active=True)
    if not may_edit:
        budgets = budgets.filter(Q(member=reader.user_id) | Q(member=None))
    members = list(reader.team.memberships.select_related("user"))
    found = load_budget_usages(reader.team, budgets, timezone.now())
    return BudgetsPage(
        groups=tuple(build_budget_groups(found, members, reader, may_edit=may_edit)),
        approval_requests=build_approval_request_rows(reader),
        changes=build_budget_history(reader),
        members_without_budget=find_members_without_budget(found, members) if may_edit else (),
        may_edit=may_edit,
        note=budgets_summary_text(found, may_edit=may_edit),
    )


def build_budget_groups(
    found: Sequence[BudgetUsage],
    members: Sequence[Membership],
    reader: Membership,
    *,
    may_edit: bool,
) -> Iterable[BudgetGroup]:
    """The team first, then the members in order of joining, short periods before long ones."""
    places = {member.user_id: place for place, member in enumerate(members)}
    names = {member.user_id: str(member.user) for member in members}
    ordered = sorted(found, key=lambda one: PERIOD_ORDER[one.budget.period])
    team = [one for one in ordered if one.budget.member_id is None]
    own = [one for one in ordered if one.budget.member_id in places]
    own.sort(key=lambda one: places[one.budget.member_id or 0])
    if team:
        rows = (
            build_budget_row(one, "The whole team", "", reader, may_edit=may_edit) for one in team
        )
        yield BudgetGroup("Team", tuple(rows))
    if own:
        marked = [(one, one.budget.member_id or 0) for one in own]
        rows = (
            build_budget_row(one, names[who], member_mark(places[who]), reader, may_edit=may_edit)
            for one, who in marked
        )
        yield BudgetGroup("Members" if may_edit else "You", tuple(rows))


def member_mark(place: int) -> str:
    return f"m{place + 1}" if place < MEMBER_COLOUR_COUNT else "outside"


def build_budget_row(
    one: BudgetUsage, who: str, mark: str, reader: Membership, *, may_edit: bool
) -> BudgetRow:
    return BudgetRow(
        id=one.budget.pk,
        who=who,
        mark=mark,
        is_me=one.budget.member_id == reader.user_id,
        period=PERIOD_NAMES[BudgetPeriod(one.budget.period)].capitalize(),
        until=one.resets_at_label,
        limits=budget_limits_text(one),
        meter=build_budget_meter(one),
        spent=one.spent,
        held=one.held,
        left=one.remaining,
        share=budget_share_text(one),
        may_edit=may_edit,
    )


def find_members_without_budget(
    found: Sequence[BudgetUsage], members: Sequence[Membership]
) -> tuple[str, ...]:
    bound = {one.budget.member_id for one in found}
    makers = [member for member in members if has_permission(member, Permission.RENDER)]
    return tuple(member.user.first_name for member in makers if member.user_id not in bound)


def budgets_summary_text(found: Sequence[BudgetUsage], *, may_edit: bool) -> str:
    if not found:
        return "Nobody is limited yet." if may_edit else "Nothing limits you here."
    reached = sum(one.state == "failed" for one in found)
    near = sum(one.state == "late" for one in found)
    if reached:
        return (
            f"{budget_count_text(reached)} at the limit: nothing more is sent there without a word."
        )
    return f"{budget_count_text(near)} past the alert." if near else "All within their limits."


def budget_count_text(number: int) -> str:
    return "One budget is" if number == 1 else f"{number} budgets are"
