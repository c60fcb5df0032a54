"""Outcomes: what a charge becomes. All writes of one outcome are atomic, with its effect."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import costs, month_costs
from proxyapi.charges import effect, evidence, log_records, waits
from proxyapi.charges.effect import announce, took_effect
from proxyapi.models import Account, Charge, ChargeState, Job, JobState
from proxyapi.models.account import plain
from proxyapi.models.charge import (
    CHARGED_LATE,
    HOLDING,
    REFUNDED,
    UNDECIDED,
)
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Reply

READ_BACK_AFTER = timedelta(seconds=5)
DONE = "It was done. What it cost is read from the ledger."
OFF = "The price was {price} cr, and it took {cost} cr."
LATE = "The service answered after this was ended: it was done.{told} The ledger shows the debit."
LATE_ANSWER = "It was called uncharged, and the service answered later: it took {cost} cr."
AGAIN = " It was done again at {time:%H:%M} UTC, which is a charge of its own."
PRICE_DIFFERS = "PRICE-DIFFERS"


def answered(charge: Charge, reply: Reply) -> None:
    """A success was answered. What it does not show, id, script or cost, has to be read back.

    An answer that comes after its charge was ended still takes effect: the work is done and paid.
    """
    record = evidence.record_of(charge, reply.data)
    cost = reply.credits.cost if reply.credits else None
    with transaction.atomic():
        lock_account(charge)
        # A sweep may have called it lost meanwhile: this is its answer all the same.
        charge.reread()
        if charge.state in (ChargeState.DRAFT, ChargeState.HELD):
            return  # the database went back in time: `recovery` takes the answer from the log
        if shown := effect.is_shown(charge, record):
            took_effect(charge, record, reply.data)
        if charge.state not in UNDECIDED:
            answered_late(charge, cost)
        elif shown and cost is not None and cost >= 0:
            late = charge.state == ChargeState.UNKNOWN
            spent(charge, ChargeState.MATCHED if late else ChargeState.CONFIRMED, cost)
        elif charge.state == ChargeState.SENDING:
            unknown(charge, None, DONE if shown else "")


def answered_late(charge: Charge, cost: Decimal | None) -> None:
    """What was called uncharged is counted at its cost. What was ended otherwise stays so, for its
    sums are told; what it took shows in the ledger."""
    if charge.is_called_uncharged and cost is not None and cost >= 0:
        charged_late(charge, cost, LATE_ANSWER.format(cost=plain(cost)))
        return
    if charge.state in (ChargeState.REFUSED, ChargeState.WRITTEN_OFF):
        told = "" if cost is None else f" It took {plain(cost)} cr."
        Charge.objects.filter(pk=charge.pk).update(reason=LATE.format(told=told))
    announce(charge)


def charged_late(
    charge: Charge, cost: Decimal, sentence: str, booked_at: datetime | None = None
) -> None:
    """It was called uncharged, and it took this much. In the caller's transaction."""
    spent(charge, ChargeState.MATCHED, cost, booked_at)
    if again := Charge.objects.repeated(charge).order_by("sent_at").first():
        sentence += AGAIN.format(time=again.sent_at)
    Charge.objects.filter(pk=charge.pk).update(code=CHARGED_LATE, reason=sentence)
    charge.reread()


def lock_account(charge: Charge) -> None:
    """Always the account before its jobs, a job before its charges: so nobody waits in a ring."""
    Account.objects.lock(charge.account_id)


def lock_jobs(charge: Charge) -> None:
    """For who changes the charge before its job; else the job is locked where it is read."""
    list(Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk))


@transaction.atomic
def spent(
    charge: Charge, state: ChargeState, cost: Decimal, booked_at: datetime | None = None
) -> None:
    """It took this much. In one step, or somebody passes on credits neither held nor taken off."""
    lock_account(charge)
    now = timezone.now()
    flag = price_flag(charge, cost)
    fields = {"cost": cost, "settled_at": now, "booked_at": booked_at, **flag}
    if not Charge.objects.move(charge, state, **fields):
        return
    month_costs.count(charge)
    charge.account.note_spent(charge)
    # It may have failed before its cost was known.
    if charge.operation in REFUNDED and charge.effect_at and charge.job:
        for failed in Job.objects.filter(pk=charge.job.pk, state=JobState.FAILED):
            Charge.objects.owe(failed, now)
    ended(charge)


def price_flag(charge: Charge, cost: Decimal) -> dict[str, str]:
    """What it took and the price that was shown do not fit: that is kept, for people to see."""
    if not costs.is_off(charge, cost):
        return {"reason": "", "code": ""}
    told = OFF.format(price=plain(charge.price), cost=plain(cost))
    return {"reason": told, "code": PRICE_DIFFERS}


def refused(charge: Charge, error: errors.UpstreamError) -> None:
    """The service said no before charging anything.

    What it refuses to a worker that only read says nothing of what another one sends meanwhile, and
    what was ended by then stays as it ended.
    """
    known = charge.state
    if isinstance(error, errors.InsufficientCredits) and error.available is not None:
        charge.account.note_balance(error.available, charge.sent_at or charge.created_at)
    with transaction.atomic():
        lock_account(charge)
        charge.reread()
        if charge.state not in HOLDING or known == ChargeState.HELD != charge.state:
            return
        sentence = error.user_message
        if isinstance(error, errors.Busy):
            sentence += effect.found_busy(charge)
        free(charge, sentence, error)


def never_sent(charge: Charge) -> None:
    sentence = "Not sent for a quarter of an hour, so it was given up. Nothing was charged."
    free(charge, sentence, None)


def free(charge: Charge, sentence: str, error: Exception | None, code: str = "") -> None:
    """Give the held credits back; the reason stays with the charge."""
    moved = Charge.objects.move(
        charge,
        ChargeState.REFUSED,
        status=getattr(error, "status", None),
        code=getattr(error, "code", code)[:60],
        reason=sentence,
        settled_at=timezone.now(),
    )
    if moved:
        ended(charge)


def ended(charge: Charge) -> None:
    """It is settled for good: the files that went with it are needed no more."""
    charge.uploads.all().delete()
    log_records.log_end(charge)
    announce(charge)


def unknown(charge: Charge, error: errors.UpstreamError | None, sentence: str = "") -> None:
    """The answer got lost on the way: whether it was charged is read back, never tried again.

    `sentence`: it was answered, but for its cost; then the service is done with it by now. Without
    error and sentence its sender is taken for dead; else it says so itself, and waits no longer.
    """
    lost_at = timezone.now() if sentence else waits.ended(charge)
    ended_by = {"alive_at": None} if error or sentence else {}
    moved = Charge.objects.move(
        charge,
        ChargeState.UNKNOWN,
        status=error.status if error else None,
        code=error.code[:60] if error else "",
        reason=error.user_message if error else sentence,
        lost_at=lost_at,
        due_at=timezone.now() + min(READ_BACK_AFTER, waits.again_after()),
        **ended_by,
    )
    if moved:
        announce(charge)
    elif ended_by:  # a sweep took the sender for dead before it gave its answer up
        lost = Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN)
        lost.update(lost_at=lost_at, **ended_by)


def delayed(charge: Charge, error: Exception) -> None:
    """Still held; the page says what it waits for."""
    reason = (
        getattr(error, "user_message", "") or "All requests of this minute are used; it is next."
    )
    if Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD).update(reason=reason):
        announce(charge)
