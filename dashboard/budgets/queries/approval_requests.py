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
    """One ask. `mine`: the reader asked, and may take it back; `may_decide`: the buttons."""

    id: UUID
    who: str
    amount: Decimal
    line: str
    note: str
    asked_at: datetime
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
    asks = select_request_relations(reader.team.asks.pending())
    decides = has_permission(reader, Permission.MANAGE_MONEY)
    if not decides:
        asks = asks.filter(member=reader.user_id)
    found = list(asks)
    short = most_constrained_by_member(reader, found)
    return tuple(
        build_approval_request_row(ask, reader, short.get(ask.member_id), decides=decides)
        for ask in found
    )


def select_request_relations(asks: QuerySet[ApprovalRequest]) -> QuerySet[ApprovalRequest]:
    return asks.select_related("member", "charge__job")


def most_constrained_by_member(
    reader: Membership, asks: Sequence[ApprovalRequest]
) -> dict[int, BudgetUsage]:
    """By asker, the budget with the least left."""
    if not asks:
        return {}
    found = load_hard_budget_usage(reader)
    return {
        who: short
        for who in {ask.member_id for ask in asks}
        if (short := most_constrained(filter_binding_usage(found, who)))
    }


def load_hard_budget_usage(reader: Membership) -> list[BudgetUsage]:
    """All budgets of the team with a hard limit."""
    budgets = Budget.objects.filter(team=reader.team, active=True).exclude(hard=None)
    return load_budget_usages(reader.team, budgets, timezone.now())


def filter_binding_usage(found: Iterable[BudgetUsage], who: int) -> list[BudgetUsage]:
    return [one for one in found if one.budget.member_id in (None, who)]


def build_approval_request_row(
    ask: ApprovalRequest, reader: Membership, short: BudgetUsage | None, *, decides: bool
) -> ApprovalRequestRow:
    mine = ask.member_id == reader.user_id
    left = f" {budget_left_sentence(short, mine=mine)}" if short else ""
    return ApprovalRequestRow(
        id=ask.pk,
        who="You" if mine else ask.member.first_name,
        amount=ask.charge.hold,
        line=f"To {requested_action_text(ask.charge)}.{left}",
        note=ask.note,
        asked_at=ask.asked_at,
        url=video_page_url(ask.charge.job),
        mine=mine,
        may_decide=decides,
    )


def requested_action_text(charge: Charge) -> str:
    """ "render “Who owns the Moon?”"."""
    done = get_operation(charge.operation).request_text
    return f"{done} “{charge.job.title}”" if charge.job else done


def budget_left_sentence(short: BudgetUsage, *, mine: bool) -> str:
    """ "61 of 2,500 are left until 1 Dec"; the reader of a colleague's ask is not "you"."""
    text = budget_left_text(short) if mine else budget_left_text(short).replace("of your", "of the")
    return f"{text.replace(' left ', ' are left ')}."


def build_approval_confirmation(ask: ApprovalRequest) -> ApprovalConfirmation:
    """What the one who decides reads before it is sent. At most five queries."""
    asker = Membership.objects.filter(team=ask.team_id, user=ask.member_id).first()
    found = filter_binding_usage(load_hard_budget_usage(asker), ask.member_id) if asker else []
    hold, account = ask.charge.hold, Account.objects.get(pk=ask.charge.account_id)
    free = account.available_balance()
    over, short = exceeded_by(found, hold), most_constrained(found)
    shown = over or ([short] if short else [])
    return ApprovalConfirmation(
        id=ask.pk,
        who=ask.member.first_name,
        title=requested_action_text(ask.charge),
        amount=hold,
        note=ask.note,
        rows=tuple(amount_rows(ask, free, shown)),
        unmet=tuple(filter(None, [credit_shortfall_text(free, hold)])),
        required_limit=ceil(over[0].used + hold) if len(over) == 1 else None,
        drawn=budget_usages_version(over),
    )


def amount_rows(
    ask: ApprovalRequest, free: Decimal, shown: Iterable[BudgetUsage]
) -> Iterator[AmountRow]:
    if ask.charge.quote is not None:
        yield AmountRow("Estimate", ask.charge.quote, "about", "As it was when it was requested")
    yield AmountRow(HOLD_LABEL, ask.charge.hold, "held")
    yield AmountRow("Free to spend on the account", free)
    for usage in shown:
        whose = f"{ask.member.first_name}’s" if usage.budget.member_id else "the team’s"
        hard, left = credits(usage.budget.hard), usage.remaining or ZERO_CREDITS
        yield AmountRow(f"Left of {whose} {hard} until {usage.resets_at_label}", left)
        exceeded = max(ask.charge.hold - left, ZERO_CREDITS)
        yield AmountRow("Above the budget", exceeded, is_total=True)
