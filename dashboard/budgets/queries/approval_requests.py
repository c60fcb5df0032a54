"""Asks that wait for a word, as those who may give it see them, and as the asker does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.budget_impact import budget_left_text
from dashboard.shared.budget_usage import (
    BudgetUsage,
    budget_usages_version,
    exceeded_by,
    load_budget_usages,
    most_constrained,
)
from dashboard.shared.formatting import credits
from dashboard.shared.price_question import HOLD_LABEL, AmountRow
from dashboard.shared.query_params import video_page_url
from dashboard.shared.roles import Permission
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi.models import Account, Charge
from proxyapi.operations import get_operation

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class ApprovalRequestRow:
    """One approval request. `mine`: the reader made it, and may withdraw it."""

    id: UUID
    who: str
    amount: Decimal
    line: str
    note: str
    requested_at: datetime
    url: str
    mine: bool
    may_decide: bool


@dataclass(frozen=True, slots=True)
class ApprovalConfirmation:
    """The question before an approval. The rows name all budgets that it goes above, else the most
    constrained; `required_limit` is the least limit that it would fit under, where only one is in
    the way; `drawn` names those that are."""

    id: UUID
    who: str
    title: str
    amount: Decimal
    note: str
    rows: tuple[AmountRow, ...]
    unmet: tuple[str, ...]  # why it cannot be sent now; no button then
    required_limit: int | None
    drawn: str


def build_approval_request_rows(reader: Membership) -> tuple[ApprovalRequestRow, ...]:
    """The oldest first; of those who may not decide, only their own. At most six queries."""
    approvals = select_request_relations(reader.team.approval_requests.pending())
    decides = has_permission(reader, Permission.MANAGE_MONEY)
    if not decides:
        approvals = approvals.filter(member=reader.user_id)
    found = list(approvals)
    short = most_constrained_by_member(reader, found)
    return tuple(
        build_approval_request_row(approval, reader, short.get(approval.member_id), decides=decides)
        for approval in found
    )


def select_request_relations(approvals: QuerySet[ApprovalRequest]) -> QuerySet[ApprovalRequest]:
    return approvals.select_related("member", "charge__job")


def most_constrained_by_member(
    reader: Membership, approvals: Sequence[ApprovalRequest]
) -> dict[int, BudgetUsage]:
    """By asker, the budget with the least left."""
    if not approvals:
        return {}
    found = load_hard_budget_usage(reader)
    return {
        who: short
        for who in {approval.member_id for approval in approvals}
        if (short := most_constrained(filter_binding_usage(found, who)))
    }


def load_hard_budget_usage(reader: Membership) -> list[BudgetUsage]:
    """All budgets of the team with a hard limit."""
    budgets = Budget.objects.filter(team=reader.team, active=True).exclude(hard=None)
    return load_budget_usages(reader.team, budgets, timezone.now())


def filter_binding_usage(found: Iterable[BudgetUsage], who: int) -> list[BudgetUsage]:
    return [one for one in found if one.budget.member_id in (None, who)]


def build_approval_request_row(
    approval: ApprovalRequest, reader: Membership, short: BudgetUsage | None, *, decides: bool
) -> ApprovalRequestRow:
    mine = approval.member_id == reader.user_id
    left = f" {budget_left_sentence(short, mine=mine)}" if short else ""
    return ApprovalRequestRow(
        id=approval.pk,
        who="You" if mine else approval.member.first_name,
        amount=approval.charge.hold,
        line=f"To {requested_action_text(approval.charge)}.{left}",
        note=approval.note,
        requested_at=approval.requested_at,
        url=video_page_url(approval.charge.job),
        mine=mine,
        may_decide=decides,
    )


def requested_action_text(charge: Charge) -> str:
    """ "render “Who owns the Moon?”"."""
    done = get_operation(charge.operation).request_text
    return f"{done} “{charge.job.title}”" if charge.job else done


def budget_left_sentence(short: BudgetUsage, *, mine: bool) -> str:
    """ "61 of 2,500 are left until 1 Dec"; the reader of a colleague’s request is not "you"."""
    text = budget_left_text(short) if mine else budget_left_text(short).replace("of your", "of the")
    return f"{text.replace(' left ', ' are left ')}."


def build_approval_confirmation(approval: ApprovalRequest) -> ApprovalConfirmation:
    """What the one who decides reads before it is sent. At most five queries."""
    asker = Membership.objects.filter(team=approval.team_id, user=approval.member_id).first()
    found = filter_binding_usage(load_hard_budget_usage(asker), approval.member_id) if asker else []
    hold, account = approval.charge.hold, Account.objects.get(pk=approval.charge.account_id)
    free = account.available_balance()
    over, short = exceeded_by(found, hold), most_constrained(found)
    shown = over or ([short] if short else [])
    return ApprovalConfirmation(
        id=approval.pk,
        who=approval.member.first_name,
        title=requested_action_text(approval.charge),
        amount=hold,
        note=approval.note,
        rows=tuple(amount_rows(approval, free, shown)),
        unmet=tuple(filter(None, [credit_shortfall_text(free, hold)])),
        required_limit=ceil(over[0].used + hold) if len(over) == 1 else None,
        drawn=budget_usages_version(over),
    )


def amount_rows(
    approval: ApprovalRequest, free: Decimal, shown: Iterable[BudgetUsage]
) -> Iterator[AmountRow]:
    if approval.charge.quote is not None:
        yield AmountRow(
            "Estimate", approval.charge.quote, "about", "As it was when it was requested"
        )
    yield AmountRow(HOLD_LABEL, approval.charge.hold, "held")
    yield AmountRow("Free to spend on the account", free)
    for usage in shown:
        whose = f"{approval.member.first_name}’s" if usage.budget.member_id else "the team’s"
        hard, left = credits(usage.budget.hard), usage.remaining or ZERO_CREDITS
        yield AmountRow(f"Left of {whose} {hard} until {usage.resets_at_label}", left)
        exceeded = max(approval.charge.hold - left, ZERO_CREDITS)
        yield AmountRow("Above the budget", exceeded, is_total=True)
