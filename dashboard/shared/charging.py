"""Create charges for members, within the budgets that apply to them.

The budgets are locked in the order of their ids and before the account (`proxyapi.charges.admit`),
so there is no deadlock and no two charges spend the same last credit of a budget or an account.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import ApprovalRequest, AuditAction, Budget, Membership
from dashboard.shared import enqueue
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.budget_usage import (
    BudgetExceeded,
    BudgetUsage,
    approver_names,
    load_budget_usages,
)
from dashboard.shared.text_validation import clean_line
from proxyapi import pricing, tasks
from proxyapi.charges import ChargeIntent, admit, find_submitted_charge
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge, Job, JobState, Token, Upload
from proxyapi.refusals import (
    AlreadyInProgress,
    LimitExceeded,
    NotReady,
    Refusal,
    SpendingLimit,
    StaleData,
    format_credits,
)

NOTHING_BESIDE = Decimal(0)
ALREADY_SENT = "This was already sent. Nothing was sent twice."
PRICE_MISSING = "There is no current price. Get a price first. Nothing was sent."
VOICE_WITHDRAWN = "The consent to the voice of this video was withdrawn. Nothing was sent."
PRICE_CHANGED = "Not sent. The price was {seen} cr and is {now} cr now"


def submit_charge(
    by: Membership,
    target: Job | Token,
    operation: str,
    nonce: UUID,
    quote: Callable[[], Decimal],
    *,
    body: dict[str, object] | None = None,
    path: dict[str, str] | None = None,
    uploads: tuple[Upload, ...] = (),
    words: str | None = None,
    beside: Decimal = NOTHING_BESIDE,
) -> Charge:
    """Create the charge that a form submits; if `words` is given, even empty, request approval
    instead. `path`, `body` and `uploads` are as in `ChargeIntent`, `beside` as in
    `request_approval`.

    `target` is the job, or the token of an operation that has none. `quote` returns the price in
    credits and raises `Refusal` if nothing can be sent in the current state. A form that is
    submitted twice gets the charge it already created.
    """
    try:
        price = quote()
    except Refusal:
        if submitted := find_submitted_charge(target, operation, nonce, body or {}, path or {}):
            return submitted
        raise
    hold = pricing.hold_for_operation(operation, price)
    job, token = (target, None) if isinstance(target, Job) else (None, target)
    intent = ChargeIntent(
        job, operation, nonce, hold, price, body or {}, token, path=path or {}, uploads=uploads
    )
    if words is None:
        return charge_within_budget(by, intent)
    return request_approval(by, intent, words, beside).charge


@transaction.atomic
def charge_within_budget(by: Membership, intent: ChargeIntent) -> Charge:
    """Write the charge and its audit row, and enqueue the send once both are committed.

    Raises `BudgetExceeded` if the hold exceeds a hard limit, else what `admit` raises. A form that
    is submitted twice gets the charge it already created, even if nothing is left.
    """
    usages = lock_budget_usages(by)
    try:
        charge, is_new = admit(intent, by.user_id, spending_limits(usages))
    except LimitExceeded as error:
        exceeded = next(usage for usage in usages if str(usage.budget.pk) == error.limit.key)
        raise BudgetExceeded(intent.hold, exceeded, approver_names(by.team)) from error
    if is_new:
        after = {
            "operation": intent.operation,
            "hold": str(intent.hold),
            "job": str(intent.job.pk if intent.job else ""),
        }
        record_audit_event(by, AuditAction.CHARGE_CREATE, charge.pk, after=after)
        tasks.enqueue_task_after_commit(tasks.choose_send_task(charge), charge.pk)
        enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return charge


def lock_budget_usages(by: Membership) -> list[BudgetUsage]:
    """Return the usage of the budgets that apply to this member, locked until the transaction
    ends."""
    budgets = list(Budget.objects.select_for_update().applying_to(by.team_id, by.user_id))
    # The clock is read after the lock: a wait over midnight counts in the new day.
    return load_budget_usages(by.team, budgets, timezone.now())


def spending_limits(usages: list[BudgetUsage]) -> list[SpendingLimit]:
    """Return the credits that the hard limits leave, as values for `proxyapi`."""
    return [
        SpendingLimit(str(usage.budget.pk), usage.budget.hard - usage.used)
        for usage in usages
        if usage.budget.hard is not None
    ]


@transaction.atomic
def request_approval(
    by: Membership, intent: ChargeIntent, words: str = "", beside: Decimal = NOTHING_BESIDE
) -> ApprovalRequest:
    """Create a draft charge over budget and an approval request for it, at this price.

    `beside` is what charges requested with it would hold, in credits: together they exceed the
    budgets. Raises `StaleData` if the charge now fits the budgets, else what `admit` raises.
    """
    limits = [
        limit._replace(remaining=limit.remaining - beside)
        for limit in spending_limits(lock_budget_usages(by))
    ]
    charge, is_new = admit(intent, by.user_id, limits, needs_approval=True)
    if not is_new:
        return existing_approval_request(charge)
    note = clean_line(words, max_length=300, field="note")
    request = ApprovalRequest.objects.create(team=by.team, charge=charge, member=by.user, note=note)
    after = {"charge": str(charge.pk), "hold": str(charge.hold), "note": note}
    record_audit_event(by, AuditAction.APPROVAL_REQUEST_CREATE, request.pk, after=after)
    publish_event(charge.tenant_id, EventType.BUDGET, request.pk)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return request


def existing_approval_request(charge: Charge) -> ApprovalRequest:
    request = ApprovalRequest.objects.filter(charge=charge).first()
    if request is None:
        raise AlreadyInProgress(ALREADY_SENT)
    return request


def require_job_state(job: Job, state: JobState, sentence: str) -> None:
    if job.state != state:
        raise NotReady(sentence)


def require_voice_consent(job: Job) -> None:
    """Raise `NotReady` if the consent to its voice was withdrawn: the service would still use
    it."""
    if str(job.chosen_settings.get("voice_id")) in job.account.withdrawn_voice_ids:
        raise NotReady(VOICE_WITHDRAWN)


def require_shown_price(seen: Decimal, now: Decimal, why: str = ".") -> None:
    """Raise `StaleData`, with the current price, if it differs from the price that was shown."""
    if seen != now:
        raise StaleData(
            PRICE_CHANGED.format(seen=format_credits(seen), now=format_credits(now)) + why
        )
