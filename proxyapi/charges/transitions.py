"""State transitions of a charge. All writes of one outcome are one transaction, with its
effects."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import pricing
from proxyapi.charges import evidence, job_effects, log_records, timeouts
from proxyapi.charges.job_effects import apply_result, publish_charge_events
from proxyapi.models import Account, Charge, ChargeState, Job, JobState
from proxyapi.models.account import amount_text
from proxyapi.models.charge import (
    CHARGED_LATE_CODE,
    CHECKED_BEFORE_RETRY_CODE,
    HOLDING_STATES,
    NEVER_CHARGED_CODE,
    UNDECIDED_STATES,
)
from proxyapi.operations import REFUNDABLE_OPERATIONS
from proxyapi.rollups import price_counts
from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.reply import Reply

RECONCILE_AFTER = timedelta(seconds=5)
GIVE_UP_AFTER = timedelta(minutes=15)
COST_PENDING_REASON = "It was done. Its cost is read from the ledger."
REPORTED_FREE_CODE = "REPORTED-FREE"  # `code` of one whose answer says 0, against its price
COST_DOUBTED_REASON = (
    "It was done. The service reported {cost} cr, which its price does not explain. Its cost is "
    "read from the ledger."
)
PRICE_DIFFERS_REASON = "The price was {price} cr; the actual cost was {cost} cr."
ANSWERED_AFTER_END_REASON = (
    "The service responded after this was closed: it was done.{told} The ledger shows the debit."
)
LATE_REPLY_REASON = (
    "It was reported as not charged, but the service responded later: it cost {cost} cr."
)
NEVER_CHARGED_REASON = "It was never charged. The {hold} cr held are released. You can try again."
SENT_AGAIN_REASON = (
    "The service had received too many requests. Nothing was charged. It is sent again."
)
REPEATED_SENTENCE = " It was done again at {time:%H:%M} UTC, which is a separate charge."
PRICE_DIFFERS = "PRICE-DIFFERS"


def apply_reply(charge: Charge, reply: Reply) -> None:
    """Apply a successful answer. What it does not contain (id, script or cost) is read back later.

    An answer that arrives after its charge was ended still takes effect: the work is done and paid.
    Without a cost a charge is settled at its price where that is exact, otherwise by the ledger.
    """
    record = evidence.resource_in_reply(charge, reply.data)
    cost = reply.credits.cost if reply.credits else None
    with transaction.atomic():
        lock_charge_account(charge)
        # A sweep may have marked it unknown meanwhile; its answer still applies.
        charge.reload()
        if charge.state in (ChargeState.DRAFT, ChargeState.HELD):
            return  # the database was restored: `recovery` applies the answer from the log
        if shown := job_effects.is_conclusive(charge, record, reply):
            apply_result(charge, record, reply.data)
            if cost is None and is_cost_missing(reply) and charge.state in UNDECIDED_STATES:
                cost = pricing.cost_without_report(charge)
        if charge.state not in UNDECIDED_STATES:
            apply_late_reply(charge, cost)
        elif shown and cost is not None and pricing.is_cost_unexpected(charge, cost):
            doubt_reported_cost(charge, cost)
        elif shown and cost is not None and cost >= 0:
            late = charge.state == ChargeState.UNKNOWN
            mark_charged(charge, ChargeState.MATCHED if late else ChargeState.CONFIRMED, cost)
        elif charge.state == ChargeState.SENDING:
            mark_unknown(charge, None, COST_PENDING_REASON if shown else "")


def doubt_reported_cost(charge: Charge, cost: Decimal) -> None:
    """The work is done; the ledger decides what it cost, or, after a report of 0, that it was
    free."""
    if charge.state == ChargeState.SENDING:
        mark_unknown(charge, None, COST_DOUBTED_REASON.format(cost=amount_text(cost)))
    if not cost:
        Charge.objects.filter(pk=charge.pk).update(code=REPORTED_FREE_CODE)


def is_cost_missing(reply: Reply) -> bool:
    """Whether the answer has no field for the cost; one that cannot be read is no price either."""
    return "cost" not in response_parsing.as_mapping(reply.meta.get("credits"))


def apply_late_reply(charge: Charge, cost: Decimal | None) -> None:
    """Count a charge that was assumed uncharged at its cost. A charge that was ended otherwise
    keeps its state, because its amounts were reported; the ledger shows the debit."""
    if charge.is_assumed_uncharged and cost is not None and cost >= 0:
        mark_charged_late(charge, cost, LATE_REPLY_REASON.format(cost=amount_text(cost)))
        return
    if charge.state in (ChargeState.REFUSED, ChargeState.WRITTEN_OFF):
        cost_text = "" if cost is None else f" It cost {amount_text(cost)} cr."
        Charge.objects.filter(pk=charge.pk).update(
            reason=ANSWERED_AFTER_END_REASON.format(told=cost_text)
        )
    publish_charge_events(charge)


def mark_charged_late(
    charge: Charge, cost: Decimal, sentence: str, booked_at: datetime | None = None
) -> None:
    """A charge that was assumed uncharged took `cost` credits. Runs in the caller's transaction."""
    mark_charged(charge, ChargeState.MATCHED, cost, booked_at)
    if again := Charge.objects.later_repeats(charge).order_by("sent_at").first():
        sentence += REPEATED_SENTENCE.format(time=again.sent_at)
    Charge.objects.filter(pk=charge.pk).update(code=CHARGED_LATE_CODE, reason=sentence)
    charge.reload()


def lock_charge_account(charge: Charge) -> None:
    """Lock order: the account, then its jobs, then their charges. Another order could deadlock."""
    Account.objects.lock_upstream_account(charge.account_id)


def lock_charge_jobs(charge: Charge) -> None:
    """For callers that change the charge before its job; otherwise the job is locked where it is
    read."""
    list(Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk))


@transaction.atomic
def mark_charged(
    charge: Charge, state: ChargeState, cost: Decimal, booked_at: datetime | None = None
) -> None:
    """Settle the charge at `cost` credits, in one transaction: between releasing the hold and
    deducting the cost another charge could spend the same credits. `booked_at` is the time of the
    debit that shows the cost; None if the service reported it."""
    lock_charge_account(charge)
    now = timezone.now()
    flag = price_difference_fields(charge, cost)
    fields = {"cost": cost, "cost_from_debit": booked_at is not None, **flag}
    if not Charge.objects.transition(charge, state, settled_at=now, booked_at=booked_at, **fields):
        return
    price_counts.count_charge(charge)
    charge.account.deduct_charge(charge)
    # The job may have failed before the cost was known.
    if charge.operation in REFUNDABLE_OPERATIONS and charge.applied_at and charge.job:
        for failed in Job.objects.filter(pk=charge.job.pk, state=JobState.FAILED):
            Charge.objects.mark_refund_owed(failed, now)
    finish_charge(charge)


def price_difference_fields(charge: Charge, cost: Decimal) -> dict[str, str]:
    """Reason and code for a cost that differs from the price shown; both empty if it does not."""
    if not pricing.is_cost_unexpected(charge, cost):
        return {"reason": "", "code": ""}
    reason = PRICE_DIFFERS_REASON.format(price=amount_text(charge.price), cost=amount_text(cost))
    return {"reason": reason, "code": PRICE_DIFFERS}


def mark_refused(charge: Charge, error: errors.UpstreamError) -> None:
    """The service refused before charging: release the hold.

    A refusal of a request that only reads does not concern a request that another worker sends
    meanwhile, and a charge that has ended keeps its state.
    """
    state_before = charge.state
    if isinstance(error, errors.InsufficientCredits):
        charge.account.learn_refused_extra(charge.hold)
        if error.available is not None:
            charge.account.update_balance(error.available, charge.sent_at or charge.created_at)
    with transaction.atomic():
        lock_charge_account(charge)
        charge.reload()
        if charge.state not in HOLDING_STATES or state_before == ChargeState.HELD != charge.state:
            return
        sentence = error.user_message
        if isinstance(error, errors.ResourceBusy):
            sentence += job_effects.adopt_busy_job(charge)
        release_hold(charge, sentence, error)


def give_up_unsent(charge: Charge) -> None:
    sentence = "Not sent within 15 minutes, so it was cancelled. Nothing was charged."
    release_hold(charge, sentence, None)


@transaction.atomic
def end_without_evidence(charge: Charge) -> None:
    """Neither the resource nor the ledger shows the charge: send it again if the service asked for
    that, the only way in which anything is sent twice; otherwise release it. `before` and the time
    of the first sending are kept for good, as evidence of both."""
    now = timezone.now()
    if charge.is_checked_before_retry and now < give_up_at(charge):
        Charge.objects.transition(
            charge, ChargeState.HELD, due_at=now, reason=SENT_AGAIN_REASON, code="", status=None
        )
        publish_charge_events(charge)
        return
    sentence = NEVER_CHARGED_REASON.format(hold=amount_text(charge.hold))
    cause, is_answered, advice = charge.reason.partition(errors.CHARGE_CHECKED)
    if is_answered and not charge.is_checked_before_retry:
        sentence = f"{cause}{sentence}{advice}"
    release_hold(charge, sentence, None, NEVER_CHARGED_CODE)


def give_up_at(charge: Charge) -> datetime:
    """Whatever delayed it, people no longer expect it to be sent."""
    return (charge.held_at or charge.created_at) + GIVE_UP_AFTER


def release_hold(charge: Charge, sentence: str, error: Exception | None, code: str = "") -> None:
    """End the charge as refused and release its credits; `sentence` is kept as the reason."""
    is_unsent = getattr(error, "outcome", None) is errors.ErrorOutcome.NOT_SENT
    moved = Charge.objects.transition(
        charge,
        ChargeState.REFUSED,
        status=getattr(error, "status", None),
        code=getattr(error, "code", code)[:60],
        reason=sentence,
        settled_at=timezone.now(),
        sent_at=charge.first_sent_at if is_unsent else charge.sent_at,
    )
    if moved:
        finish_charge(charge)


def finish_charge(charge: Charge) -> None:
    """The charge is settled for good: delete its uploads, close its log record and publish
    events."""
    charge.uploads.all().delete()
    log_records.log_charge_end(charge)
    publish_charge_events(charge)


def mark_unknown(charge: Charge, error: errors.UpstreamError | None, sentence: str = "") -> None:
    """The answer was lost: whether it was charged is read back later, and nothing is sent again.

    With `sentence` the answer arrived without its cost, so the service has completed the request.
    With neither error nor sentence the sender is assumed dead; otherwise the sender itself reports
    the loss.
    """
    is_rate_limited = isinstance(error, errors.RateLimited) and error.is_retry_requested
    is_complete = is_rate_limited or (error is None and bool(sentence))
    lost_at = timezone.now() if is_complete else timeouts.latest_completion(charge)
    code = error.code[:60] if error else ""
    ended_by = {"heartbeat_at": None} if error or sentence else {}
    moved = Charge.objects.transition(
        charge,
        ChargeState.UNKNOWN,
        status=error.status if error else None,
        code=CHECKED_BEFORE_RETRY_CODE if is_rate_limited else code,
        reason=sentence or (error.user_message if error else ""),
        lost_at=lost_at,
        due_at=timezone.now() + min(RECONCILE_AFTER, timeouts.retry_interval()),
        **ended_by,
    )
    if moved:
        publish_charge_events(charge)
    elif ended_by:  # a sweep assumed the sender dead before it stopped waiting for the answer
        lost = Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN)
        lost.update(lost_at=lost_at, **ended_by)


def mark_delayed(charge: Charge, reason: str) -> None:
    """The charge stays held; `reason` says what it waits for."""
    if Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD).update(reason=reason):
        publish_charge_events(charge)
