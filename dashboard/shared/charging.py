"""Charging: the one way from what a member does to a charge, through the budgets that bind them.

The budgets are locked in order of their keys and before the account, so nobody waits in a ring and
no two charges pass on the same last credit, of a budget or of an account.
"""

from __future__ import annotations

from decimal import Decimal

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
    most_constrained,
)
from dashboard.shared.text_validation import clean_line
from proxyapi import tasks
from proxyapi.charges import ChargeIntent, admit_charge, create_draft_charge
from proxyapi.charges.admission import find_existing_charge, lock_intent_account
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge, Job, JobState
from proxyapi.refusals import AlreadyInProgress, NotReady, StaleData, format_credits

BUDGET_HAS_ROOM = "There is room for it by now. Nothing was sent; press once more."
ALREADY_SENT = "This was sent already. Nothing was sent twice."


@transaction.atomic
def charge_within_budget(by: Membership, intent: ChargeIntent) -> Charge:
    """The intent row and its audit row, then the doorbell once both are committed.

    Raises `BudgetExceeded` when the hold does not fit under a hard limit, else what `record`
    raises. A form that comes twice gets the charge it made, whatever is left by then.
    """
    found = lock_budget_usages(by)
    if sent := lock_and_find_existing_charge(intent):
        return sent
    if over := blocking_budget(found, intent.hold):
        raise BudgetExceeded(intent.hold, over, approver_names(by.team))
    charge = admit_charge(intent)
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
    """How the budgets that bind this member stand, locked until the transaction ends."""
    budgets = list(Budget.objects.select_for_update().applying_to(by.team_id, by.user_id))
    # The clock after the lock: who waited for it over midnight is counted with the new day.
    return load_budget_usages(by.team, budgets, timezone.now())


def lock_and_find_existing_charge(intent: ChargeIntent) -> Charge | None:
    """What an equal press made, the account locked before it is looked for: of presses at once the
    first makes the charge and its audit row, also where no budget binds."""
    lock_intent_account(intent)
    return find_existing_charge(intent)


def blocking_budget(found: list[BudgetUsage], hold: Decimal) -> BudgetUsage | None:
    """The tightest of those that the hold does not fit into."""
    return most_constrained(standing for standing in found if not standing.has_room_for(hold))


def charge_or_request_approval(by: Membership, intent: ChargeIntent, words: str | None) -> Charge:
    """With `words`, be they empty, it is asked for; without them it is charged."""
    return (
        charge_within_budget(by, intent)
        if words is None
        else request_approval(by, intent, words).charge
    )


@transaction.atomic
def request_approval(by: Membership, intent: ChargeIntent, words: str = "") -> ApprovalRequest:
    """Have what the budget refuses wait for the treasurer's or the owner's word, at this price.

    Raises `Stale` when there is room for it by now, else what
    `proxyapi.charges.admission.create_draft_charge` raises.
    """
    found = lock_budget_usages(by)
    if sent := lock_and_find_existing_charge(intent):
        return existing_approval_request(sent)
    over = blocking_budget(found, intent.hold)
    if over is None:
        raise StaleData(BUDGET_HAS_ROOM)
    words = clean_line(words, max_length=300, field="note")
    charge = create_draft_charge(intent)
    asked = ApprovalRequest.objects.create(team=by.team, charge=charge, member=by.user, note=words)
    after = {"charge": str(charge.pk), "hold": str(charge.hold), "note": asked.note}
    record_audit_event(by, AuditAction.APPROVAL_REQUEST_CREATE, asked.pk, after=after)
    publish_event(charge.tenant_id, EventType.BUDGET, asked.pk)
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return asked


def existing_approval_request(charge: Charge) -> ApprovalRequest:
    found = ApprovalRequest.objects.filter(charge=charge).first()
    if found is None:
        raise AlreadyInProgress(ALREADY_SENT)
    return found


PRICE_MISSING = "There is no price for it as it stands. Ask for the price first; nothing was sent."


PRICE_CHANGED = "Not sent. The price was {seen} cr and is {now} cr now"


def require_job_state(job: Job, state: JobState, sentence: str) -> None:
    if job.state != state:
        raise NotReady(sentence)


def require_shown_price(seen: Decimal, now: Decimal, why: str = ".") -> None:
    """Nothing goes at a price that nobody saw. Raises `Stale`, with the price of now."""
    if seen != now:
        raise StaleData(
            PRICE_CHANGED.format(seen=format_credits(seen), now=format_credits(now)) + why
        )
