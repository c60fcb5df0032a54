"""The budgets page: members see their own budgets and the team's, money managers all of them."""

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
from dashboard.budgets.queries.second_person import SecondPersonCard, build_second_person_card
from dashboard.models import Budget, BudgetPeriod, Membership, NewMemberBudget
from dashboard.shared.access import has_permission
from dashboard.shared.budget_usage import PERIOD_NAMES, BudgetUsage, load_budget_usages
from dashboard.shared.formatting import credits, money, percent
from dashboard.shared.roles import Permission
from proxyapi.models import Account
from proxyapi.models.credit_price import CreditPrice, common_credit_price

PERIOD_ORDER = {period.value: number for number, period in enumerate(BudgetPeriod)}
MEMBER_COLOUR_COUNT = 6  # members with a colour, in order of joining; the others share one
ZERO_CREDITS = Decimal(0)
# The meter of a budget without a hard limit extends beyond its alert threshold.
ALERT_ONLY_SCALE_FACTOR = Decimal("1.25")


@dataclass(frozen=True, slots=True)
class BudgetRow:
    """One budget. `mark` is the member's colour, empty for the team and labels; `may_edit` is the
    reader's permission; `raised` says what a raise adds and until when."""

    id: UUID
    who: str
    mark: str
    is_me: bool
    period: str
    until: str
    limits: str
    money: str
    meter: BudgetMeter
    spent: Decimal
    held: Decimal
    left: Decimal | None
    share: str
    may_edit: bool
    may_raise: bool
    raised: str


@dataclass(frozen=True, slots=True)
class BudgetGroup:
    title: str
    rows: tuple[BudgetRow, ...]


@dataclass(frozen=True, slots=True)
class BudgetsPage:
    """`members_without_budget` is filled only for readers who may add a budget."""

    groups: tuple[BudgetGroup, ...]
    approval_requests: tuple[ApprovalRequestRow, ...]
    changes: tuple[BudgetHistoryRow, ...]
    members_without_budget: tuple[str, ...]
    may_edit: bool
    note: str
    rule: SecondPersonCard
    new_members: str


def build_budgets_page(reader: Membership, accounts: Iterable[Account]) -> BudgetsPage:
    """At most fourteen queries, however many members there are. `accounts` are the team's."""
    may_edit = has_permission(reader, Permission.MANAGE_MONEY)
    members = list(reader.team.memberships.select_related("user"))
    usages = load_visible_usages(reader)
    return BudgetsPage(
        groups=tuple(
            build_budget_groups(
                usages, members, reader, common_credit_price(accounts), may_edit=may_edit
            )
        ),
        approval_requests=build_approval_request_rows(reader),
        changes=build_budget_history(reader),
        members_without_budget=find_members_without_budget(usages, members) if may_edit else (),
        may_edit=may_edit,
        note=budgets_summary_text(usages, may_edit=may_edit),
        rule=build_second_person_card(reader, members),
        new_members=new_member_text(find_new_member_budget(reader)) if may_edit else "",
    )


def load_visible_usages(reader: Membership) -> list[BudgetUsage]:
    """Return the usage of the active budgets that the reader may see. Two queries at least, one
    more for each further kind of period."""
    budgets = Budget.objects.filter(team=reader.team, active=True).select_related("label")
    if not has_permission(reader, Permission.MANAGE_MONEY):
        budgets = budgets.filter(Q(member=reader.user_id) | Q(member=None))
    return load_budget_usages(reader.team, budgets, timezone.now())


def build_budget_groups(
    usages: Sequence[BudgetUsage],
    members: Sequence[Membership],
    reader: Membership,
    price: CreditPrice | None,
    *,
    may_edit: bool,
) -> Iterable[BudgetGroup]:
    """The team first, then the members in order of joining, then the labels; short periods before
    long ones."""
    index_by_member = {member.user_id: index for index, member in enumerate(members)}
    names = {member.user_id: str(member.user) for member in members}
    ordered = sorted(usages, key=lambda usage: PERIOD_ORDER[usage.budget.period])
    team = [usage for usage in ordered if is_of_team(usage.budget)]
    labels = [usage for usage in ordered if usage.budget.label_id]
    labels.sort(key=lambda usage: usage.budget.label.key if usage.budget.label else "")
    own = [usage for usage in ordered if usage.budget.member_id in index_by_member]
    own.sort(key=lambda usage: index_by_member[usage.budget.member_id or 0])
    if team:
        rows = (
            build_budget_row(usage, "The whole team", "", reader, price, may_edit=may_edit)
            for usage in team
        )
        yield BudgetGroup("Team", tuple(rows))
    if own:
        own_with_member = [(usage, usage.budget.member_id or 0) for usage in own]
        rows = (
            build_budget_row(
                usage,
                names[member_id],
                member_mark(index_by_member[member_id]),
                reader,
                price,
                may_edit=may_edit,
            )
            for usage, member_id in own_with_member
        )
        yield BudgetGroup("Members" if may_edit else "You", tuple(rows))
    if labels:
        rows = (
            build_budget_row(usage, str(usage.budget.label), "", reader, price, may_edit=may_edit)
            for usage in labels
        )
        yield BudgetGroup("Labels", tuple(rows))


def is_of_team(budget: Budget) -> bool:
    return budget.member_id is None and budget.label_id is None


def member_mark(index: int) -> str:
    return f"m{index + 1}" if index < MEMBER_COLOUR_COUNT else "outside"


def build_budget_row(
    usage: BudgetUsage,
    who: str,
    mark: str,
    reader: Membership,
    price: CreditPrice | None,
    *,
    may_edit: bool,
) -> BudgetRow:
    return BudgetRow(
        id=usage.budget.pk,
        who=who,
        mark=mark,
        is_me=usage.budget.member_id == reader.user_id,
        period=PERIOD_NAMES[BudgetPeriod(usage.budget.period)].capitalize(),
        until=usage.resets_at_label,
        limits=budget_limits_text(usage),
        money=budget_money_text(usage, price) if price else "",
        meter=build_budget_meter(usage),
        spent=usage.spent,
        held=usage.held,
        left=usage.remaining,
        share=budget_share_text(usage),
        may_edit=may_edit,
        may_raise=may_edit and usage.hard is not None,
        raised=raise_text(usage),
    )


def raise_text(usage: BudgetUsage) -> str:
    """ "raised by 500 until Fri 27 Nov, 18:00"; empty without a raise."""
    end = usage.budget.raise_until
    if not usage.raised or end is None:
        return ""
    local = end.astimezone(usage.zone)
    return (
        f"raised by {credits(usage.raised)} until {local:%a} {local.day} {local:%b}, {local:%H:%M}"
    )


def find_new_member_budget(reader: Membership) -> NewMemberBudget | None:
    return NewMemberBudget.objects.filter(team=reader.team_id).first()


def new_member_text(default: NewMemberBudget | None) -> str:
    """ "2,500 a month, alert at 2,000"; empty without a default."""
    if default is None:
        return ""
    period = f"a {default.period}"
    if default.hard == 0:
        return "no charges allowed"
    parts = [f"{credits(default.hard)} cr {period}"] if default.hard is not None else []
    if default.soft is not None:
        parts.append(f"alert at {credits(default.soft)}{'' if parts else f' {period}'}")
    return ", ".join(parts)


def find_members_without_budget(
    usages: Sequence[BudgetUsage], members: Sequence[Membership]
) -> tuple[str, ...]:
    budgeted_ids = {usage.budget.member_id for usage in usages}
    renderers = [member for member in members if has_permission(member, Permission.RENDER)]
    return tuple(
        member.user.first_name for member in renderers if member.user_id not in budgeted_ids
    )


def budgets_summary_text(usages: Sequence[BudgetUsage], *, may_edit: bool) -> str:
    if not usages:
        return "No budgets yet." if may_edit else "You have no budget."
    reached = sum(usage.state == "failed" for usage in usages)
    near = sum(usage.state == "late" for usage in usages)
    if reached:
        return (
            f"{budget_count_text(reached)} at the limit. Nothing more is sent there without "
            "approval."
        )
    return f"{budget_count_text(near)} past the alert." if near else "All within limits."


def budget_count_text(number: int) -> str:
    return "One budget is" if number == 1 else f"{number} budgets are"


@dataclass(frozen=True, slots=True)
class BudgetMeter:
    """Lengths in percent of the meter, `alert` empty without one. `state` is late, failed or ""."""

    state: str
    spent: str
    held: str
    alert: str
    sentence: str


def build_budget_meter(usage: BudgetUsage) -> BudgetMeter:
    budget = usage.budget
    scale = usage.hard or (budget.soft or ZERO_CREDITS) * ALERT_ONLY_SCALE_FACTOR
    if usage.allows_no_charges:  # any credit used before the block fills the meter
        scale = max(usage.used, Decimal(1))
    spent = min(usage.spent, scale)
    held = min(usage.held, scale - spent)
    has_alert_mark = budget.soft is not None and budget.soft < scale
    return BudgetMeter(
        state=usage.state,
        spent=percent(100 * spent / scale),
        held=percent(100 * held / scale),
        alert=percent(100 * (budget.soft or ZERO_CREDITS) / scale) if has_alert_mark else "",
        sentence=f"{credits(usage.spent)} spent and {credits(usage.held)} held, "
        f"{budget_limits_text(usage)}",
    )


def budget_limits_text(usage: BudgetUsage) -> str:
    """ "of 2,500, alert at 2,000"."""
    budget, parts = usage.budget, []
    if usage.allows_no_charges:
        return "no charges allowed"
    if usage.hard is not None:
        parts.append(f"of {credits(usage.hard)}")
    if budget.soft is not None:
        parts.append(f"alert at {credits(budget.soft)}")
    return ", ".join(parts)


def budget_money_text(usage: BudgetUsage, price: CreditPrice) -> str:
    """ "≈ €7.50 of ≈ €25.00, alert at ≈ €20.00"."""
    budget, text = usage.budget, money(usage.used, price)
    if usage.hard:
        text += f" of {money(usage.hard, price)}"
    return f"{text}, alert at {money(budget.soft, price)}" if budget.soft else text


def budget_share_text(usage: BudgetUsage) -> str:
    """The used part of the limit, such as "71 %", rounded down: a limit not reached is never shown
    as 100 %. Empty for a limit of 0."""
    if usage.allows_no_charges:
        return ""
    limit = usage.hard or usage.budget.soft or Decimal(1)
    return f"{int(100 * usage.used / limit)} %"
