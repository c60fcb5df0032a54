"""Decisions on approval requests: nobody decides their own.

Lock order: the team, budgets, the request, the account (see `shared.charging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from dashboard.budgets.actions.budgets import change_budget
from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    Membership,
)
from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.approvals import close_request, lock_pending_request, save_request_decision
from dashboard.shared.budget_usage import BudgetUsage, budget_usages_version, exceeded_by
from dashboard.shared.charging import lock_spending_rules
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import clean_reason
from proxyapi import pricing, tasks
from proxyapi.charges import approve_draft_charge
from proxyapi.models import Charge
from proxyapi.models.account import amount_text
from proxyapi.operations import PriceRule, get_operation
from proxyapi.refusals import Refusal, StaleData, format_credits

REQUEST_CHANGED = "The video or its price changed since the request. Nothing was sent."
PRICE_INCREASED = (
    "It was requested at {seen} cr and now costs {now} cr. Nothing was sent. Request it again."
)
KEY_REVOKED = "The {noun} that requested it was revoked. Nothing was sent."
REQUESTER_CANNOT_RENDER = (
    "The member who requested it can no longer create videos in this team. Nothing was sent."
)
SEVERAL_BUDGETS_BLOCK = (
    "It exceeds more than one budget. Raise these first, or approve it once. Nothing was sent."
)
BLOCKING_BUDGETS_CHANGED = (
    "The budget that blocks this request has changed. Its current values are shown; review and "
    "approve again. Nothing was sent."
)
RAISED_LIMIT_TOO_LOW = "The new limit must be above {limit} cr. Nothing was sent."
DECLINE_REASON_REQUIRED = "Enter a reason."
OWN_REQUEST = (
    "You made this request. Another treasurer or owner has to decide it. You can withdraw it."
)
WITHDRAWN_BY_REQUESTER = "Withdrawn before it was decided. Nothing was sent."


@transaction.atomic
def approve_request(
    *,
    by: Membership,
    approval: ApprovalRequest,
    hard: Decimal | None = None,
    drawn: str | None = None,
    beyond_balance: bool = False,
) -> ApprovalRequest:
    """Send what was requested, once, even above budgets; `hard` first raises the limit of the
    blocking budget, if there is only one.

    `drawn` is the `budget_usages_version` of the blocking budgets that were shown, "" for none;
    with `beyond_balance` it is sent although only extra credits may pay it. The
    request ends as `STALE`, and nothing is sent, if its content changed or its price rose. Raises
    `StaleData` if it was decided already or other budgets block it, `NotEnoughCredits` if the
    account has too few credits, `Refusal` if `by` is the requester.
    """
    check_can_decide(by, approval)
    requester = Membership.objects.filter(team=by.team, user=approval.member_id).first()
    exceeded = (
        exceeded_by(
            lock_spending_rules(requester, job=approval.charge.job).usages, approval.charge.hold
        )
        if requester
        else []
    )
    approval = lock_pending_request(approval)
    if requester is None or not has_permission(requester, Permission.RENDER):
        return close_request(by, approval, ApprovalDecision.STALE, REQUESTER_CANNOT_RENDER)
    if approval.charge.api_key and approval.charge.api_key.revoked_at:
        sentence = KEY_REVOKED.format(noun=approval.charge.api_key.noun)
        return close_request(by, approval, ApprovalDecision.STALE, sentence)
    check_budgets_as_shown(exceeded, hard, drawn)
    try:
        price = check_current_price(approval.charge)
        approve_draft_charge(approval.charge, price, beyond_balance=beyond_balance)
    except StaleData as stale:
        return close_request(by, approval, ApprovalDecision.STALE, stale.sentence)
    if exceeded and hard is not None:
        check_raised_limit(exceeded, hard)
        raised = exceeded[0].budget
        change_budget(by=by, budget=raised, soft=raised.soft, hard=hard - exceeded[0].raised)
    tasks.enqueue_task_after_commit(tasks.dispatch_charge_task, approval.charge.pk)
    return save_request_decision(
        by,
        approval,
        ApprovalDecision.APPROVED,
        "",
        exceeded=exceeded_audit_details(exceeded, approval.charge.hold),
    )


def check_can_decide(by: Membership, approval: ApprovalRequest) -> None:
    """Nobody decides their own request, owners neither."""
    check_permission(by, Permission.MANAGE_MONEY)
    if approval.member_id == by.user_id:
        raise Refusal(OWN_REQUEST)


def check_budgets_as_shown(
    exceeded: Sequence[BudgetUsage], hard: Decimal | None, drawn: str | None
) -> None:
    """Raise `StaleData` if the blocking budgets are not those the approver was shown.

    If none blocks the request any more it may still be sent; only raising a limit is refused.
    """
    fits = not exceeded and hard is None
    if drawn is not None and not fits and drawn != budget_usages_version(exceeded):
        raise StaleData(BLOCKING_BUDGETS_CHANGED)


def check_raised_limit(exceeded: Sequence[BudgetUsage], hard: Decimal) -> None:
    """Refuse a raise that would not make the request fit."""
    if len(exceeded) > 1:
        raise StaleData(SEVERAL_BUDGETS_BLOCK)
    limit = exceeded[0].hard
    if limit is not None and hard <= limit:
        raise Refusal(RAISED_LIMIT_TOO_LOW.format(limit=format_credits(limit)), field="hard")


def exceeded_audit_details(exceeded: Sequence[BudgetUsage], hold: Decimal) -> list[dict[str, str]]:
    """The exceeded budgets, most constrained first, with their limit and their usage before and
    after."""
    return [
        {
            "budget": str(usage.budget.pk),
            "hard": amount_text(hold if usage.hard is None else usage.hard),
            "used_before": amount_text(usage.used),
            "used_after": amount_text(usage.used + hold),
        }
        for usage in exceeded
    ]


@transaction.atomic
def decline_request(*, by: Membership, approval: ApprovalRequest, reason: str) -> ApprovalRequest:
    """Decline the request with a reason that the requester reads. Nothing is sent."""
    check_can_decide(by, approval)
    reason = clean_reason(reason, required=DECLINE_REASON_REQUIRED, field="answer")
    return close_request(by, lock_pending_request(approval), ApprovalDecision.DECLINED, reason)


@transaction.atomic
def withdraw_request(*, by: Membership, approval: ApprovalRequest) -> ApprovalRequest:
    """Withdraw the member's own request, so that the draft can be changed again."""
    return close_request(
        by, lock_pending_request(approval), ApprovalDecision.WITHDRAWN, WITHDRAWN_BY_REQUESTER
    )


def check_current_price(charge: Charge) -> Decimal | None:
    """Return the current price if it is below the requested one, else None. Raises `StaleData` if
    the price has risen or is unknown, or the video is gone."""
    requested_price, current_price = charge.price, current_request_price(charge)
    if current_price is None or (charge.job and charge.job.hidden_at):
        raise StaleData(REQUEST_CHANGED)
    if current_price > requested_price:
        raise StaleData(
            PRICE_INCREASED.format(
                seen=format_credits(requested_price), now=format_credits(current_price)
            )
        )
    return current_price if current_price < requested_price else None


def current_request_price(charge: Charge) -> Decimal | None:
    """The current price of the request in credits; None if it is unknown."""
    operation = get_operation(charge.operation)
    if operation.writes_script:
        return pricing.script_credits(charge.account)
    if charge.job is None:
        return pricing.fixed_price(charge.account, charge.operation)
    if operation.price.rule is PriceRule.LAST_RENDER:
        return pricing.estimate_retry_price(charge.job)
    draft = charge.job.draft_or_none
    if draft is None and charge.api_key_id:  # a script's: nothing here can change its price
        return charge.price
    return draft.estimate if draft else None
