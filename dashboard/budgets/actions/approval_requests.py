"""Asks: approved once, with more budget or above it; declined with a sentence; taken back.

Budgets are locked before the ask, the ask before the account (see `charging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from dashboard.budgets.actions.budgets import change_budget
from dashboard.models import ApprovalDecision, ApprovalRequest, Membership
from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.approvals import close_request, lock_pending_request, save_request_decision
from dashboard.shared.budget_usage import BudgetUsage, budget_usages_version, exceeded_by
from dashboard.shared.charging import lock_budget_usages
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import clean_line
from proxyapi import pricing, tasks
from proxyapi.charges import approve_draft_charge
from proxyapi.models import Charge
from proxyapi.models.account import amount_text
from proxyapi.operations import PriceRule, get_operation
from proxyapi.refusals import Refusal, StaleData, format_credits

REQUEST_CHANGED = "The video or its price changed since it was asked for. Nothing was sent."
PRICE_INCREASED = (
    "It was asked for at {seen} cr and costs {now} cr now. Nothing was sent. Ask again."
)
REQUESTER_CANNOT_RENDER = "Whoever asked makes no videos in this team any more. Nothing was sent."
SEVERAL_BUDGETS_BLOCK = (
    "It goes above more than one budget. Raise these first, or approve it this once. Nothing was "
    "sent."
)
BLOCKING_BUDGETS_CHANGED = (
    "The budget in the way is not as it was shown any more. It is shown as it is now; look and "
    "approve again. Nothing was sent."
)
RAISED_LIMIT_TOO_LOW = "A raised limit is above {limit} cr. Nothing was sent."
DECLINE_REASON_REQUIRED = "Say in a sentence why not."
WITHDRAWN_BY_REQUESTER = "Taken back before it was decided. Nothing was sent."


@transaction.atomic
def approve_request(
    *, by: Membership, ask: ApprovalRequest, hard: Decimal | None = None, drawn: str | None = None
) -> ApprovalRequest:
    """Send what was asked for, this once, also above budgets; `hard` first raises the one that is
    in the way, where it is only one.

    `drawn` names the budgets that were shown in the way, as `caps.named` does, "" for none.
    It ends as `STALE` when it is not what was asked for any more, or dearer: then nothing is sent.
    Raises `Stale` when somebody decided it before or other budgets are in the way,
    `NotEnoughCredits` when the account is short.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    asker = Membership.objects.filter(team=by.team, user=ask.member_id).first()
    over = exceeded_by(lock_budget_usages(asker), ask.charge.hold) if asker else []
    ask = lock_pending_request(ask)
    if asker is None or not has_permission(asker, Permission.RENDER):
        return close_request(by, ask, ApprovalDecision.STALE, REQUESTER_CANNOT_RENDER)
    check_budgets_as_shown(over, hard, drawn)
    try:
        approve_draft_charge(ask.charge, check_current_price(ask.charge))
    except StaleData as stale:
        return close_request(by, ask, ApprovalDecision.STALE, stale.sentence)
    if over and hard is not None:
        check_raised_limit(over, hard)
        raised = over[0].budget
        change_budget(by=by, budget=raised, soft=raised.soft, hard=hard)
    tasks.enqueue_task_after_commit(tasks.choose_send_task(ask.charge), ask.charge.pk)
    return save_request_decision(
        by,
        ask,
        ApprovalDecision.APPROVED,
        "",
        exceeded=exceeded_audit_details(over, ask.charge.hold),
    )


def check_budgets_as_shown(
    over: Sequence[BudgetUsage], hard: Decimal | None, drawn: str | None
) -> None:
    """What is in the way is what the decider saw there. That nothing is by now hinders no sending,
    only a raise."""
    fits = not over and hard is None
    if drawn is not None and not fits and drawn != budget_usages_version(over):
        raise StaleData(BLOCKING_BUDGETS_CHANGED)


def check_raised_limit(over: Sequence[BudgetUsage], hard: Decimal) -> None:
    """One raise is not to seem to make room where it makes none."""
    if len(over) > 1:
        raise StaleData(SEVERAL_BUDGETS_BLOCK)
    limit = over[0].budget.hard
    if limit is not None and hard <= limit:
        raise Refusal(RAISED_LIMIT_TOO_LOW.format(limit=format_credits(limit)), field="hard")


def exceeded_audit_details(over: Sequence[BudgetUsage], hold: Decimal) -> list[dict[str, str]]:
    """The budgets that it goes above, the tightest first: their limit, and what was used before and
    is used after it."""
    return [
        {
            "budget": str(usage.budget.pk),
            "hard": amount_text(usage.budget.hard or hold),
            "used_before": amount_text(usage.used),
            "used_after": amount_text(usage.used + hold),
        }
        for usage in over
    ]


@transaction.atomic
def decline_request(*, by: Membership, ask: ApprovalRequest, words: str) -> ApprovalRequest:
    """Say no, with a sentence that the asker reads. Nothing is sent."""
    check_permission(by, Permission.MANAGE_MONEY)
    words = clean_line(words, max_length=300, field="answer")
    if not words:
        raise Refusal(DECLINE_REASON_REQUIRED, field="answer")
    return close_request(by, lock_pending_request(ask), ApprovalDecision.DECLINED, words)


@transaction.atomic
def withdraw_request(*, by: Membership, ask: ApprovalRequest) -> ApprovalRequest:
    """The asker's own: it waits no more, and the draft can be changed again."""
    return close_request(
        by, lock_pending_request(ask), ApprovalDecision.WITHDRAWN, WITHDRAWN_BY_REQUESTER
    )


def check_current_price(charge: Charge) -> Decimal | None:
    """It goes at the price of now; None where that is as seen. Raises `Stale` when it is dearer by
    now, has no price any more, or its video is gone."""
    seen, now = charge.price, current_request_price(charge)
    if now is None or (charge.job and charge.job.hidden_at):
        raise StaleData(REQUEST_CHANGED)
    if now > seen:
        raise StaleData(PRICE_INCREASED.format(seen=format_credits(seen), now=format_credits(now)))
    return now if now < seen else None


def current_request_price(charge: Charge) -> Decimal | None:
    """What that which was asked for costs now; None where nothing tells it."""
    operation = get_operation(charge.operation)
    if operation.writes_script:
        return pricing.script_credits(charge.account)
    if charge.job is None:
        return charge.price
    if operation.price.rule is PriceRule.LAST_RENDER:
        return pricing.estimate_retry_price(charge.job)
    return charge.job.estimate
