"""Outcomes: what a charge becomes, and what that does to its job. All writes of one outcome are
atomic."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import drafts
from proxyapi.costs import SCRIPTS
from proxyapi.events import Event, publish
from proxyapi.models import Account, Charge, ChargeState, Job, JobState
from proxyapi.models.charge import STARTS_RENDERING
from proxyapi.upstream import errors
from proxyapi.upstream.catalog import operation
from proxyapi.upstream.reply import Reply
from proxyapi.watching import FIRST_LOOK

READ_BACK_AFTER = timedelta(seconds=5)


def answered(charge: Charge, reply: Reply) -> None:
    """A success was answered. What it does not show, cost or script, has to be read back."""
    record = drafts.record(reply.data)
    cost = reply.credits.cost if reply.credits else None
    with transaction.atomic():
        lock_account(charge)
        shown = charge.operation not in SCRIPTS or bool(script_in(record))
        if shown:
            took_effect(charge, record)
        if shown and cost is not None and cost >= 0:
            spent(charge, ChargeState.CONFIRMED, cost)
        else:
            unknown(charge, None)


def lock_account(charge: Charge) -> None:
    """Always the account before its jobs, a job before its charges: so nobody waits in a ring."""
    Account.objects.select_for_update().get(pk=charge.account_id)


def spent(
    charge: Charge, state: ChargeState, cost: Decimal, booked_at: datetime | None = None
) -> None:
    now = timezone.now()
    fields = {"cost": cost, "settled_at": now, "booked_at": booked_at, "reason": "", "code": ""}
    if Charge.objects.move(charge, state, **fields):
        charge.account.note_spent(cost, charge.sent_at or now)
        ended(charge)


def refused(charge: Charge, error: errors.UpstreamError) -> None:
    """The service said no before charging anything."""
    if isinstance(error, errors.InsufficientCredits) and error.available is not None:
        charge.account.note_balance(error.available, timezone.now())
    free(charge, error.user_message, error)


def never_sent(charge: Charge) -> None:
    sentence = "Not sent for a quarter of an hour, so it was given up. Nothing was charged."
    free(charge, sentence, None)


def free(charge: Charge, sentence: str, error: Exception | None) -> None:
    """Give the held credits back; the reason stays with the charge."""
    moved = Charge.objects.move(
        charge,
        ChargeState.REFUSED,
        status=getattr(error, "status", None),
        code=getattr(error, "code", "")[:60],
        reason=sentence,
        settled_at=timezone.now(),
    )
    if moved:
        ended(charge)


def ended(charge: Charge) -> None:
    """It is settled for good: the files that went with it are needed no more."""
    charge.uploads.all().delete()
    announce(charge)


def unknown(charge: Charge, error: errors.UpstreamError | None) -> None:
    """The answer got lost on the way: whether it was charged is read back, never tried again."""
    now = timezone.now()
    moved = Charge.objects.move(
        charge,
        ChargeState.UNKNOWN,
        status=error.status if error else None,
        code=error.code[:60] if error else "",
        reason=error.user_message if error else "",
        lost_at=min(now, answer_due(charge)),  # a dead worker's is found later than it was lost
        due_at=now + READ_BACK_AFTER,
    )
    if moved:
        announce(charge)


def answer_due(charge: Charge) -> datetime:
    """When the answer of a sent charge is given up at the latest."""
    timeout = timedelta(seconds=operation(charge.operation).timeout)
    return (charge.sent_at or charge.created_at) + timeout


def delayed(charge: Charge, error: Exception) -> None:
    """Still held; the page says what it waits for."""
    reason = (
        getattr(error, "user_message", "") or "All requests of this minute are used; it is next."
    )
    if Charge.objects.filter(pk=charge.pk, state=ChargeState.HELD).update(reason=reason):
        announce(charge)


@transaction.atomic
def took_effect(charge: Charge, record: dict[str, object]) -> None:
    """The operation was carried out upstream: the job goes on from there, once for each charge.

    The job is read again under a lock: people and looks may have changed it since it was sent.
    """
    now = timezone.now()
    job = Job.objects.select_for_update(of=("self",)).filter(charges=charge.pk).first()
    if not Charge.objects.filter(pk=charge.pk, effect_at__isnull=True).update(effect_at=now):
        return
    charge.effect_at = now
    if job is None:
        return
    if charge.operation in STARTS_RENDERING and job.state != JobState.RUNNING:
        job.start(now, FIRST_LOOK)
    elif charge.operation in SCRIPTS and (script := script_in(record)):
        job.wanted = {**job.wanted, "script": script}
        job.sent = {**job.sent, "script": script}
        job.estimate, job.edited_at = None, now
        if not drafts.missing(job.wanted):
            job.quote_due_at = now  # the next tick asks the new price
        job.save(update_fields=["wanted", "sent", "estimate", "edited_at", "quote_due_at"])
    publish(job.vault_id, Event.JOB, job.pk)


def script_in(record: dict[str, object]) -> str:
    script = record.get("script")
    return script if isinstance(script, str) else ""


def announce(charge: Charge) -> None:
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    publish(charge.vault_id, Event.ACCOUNT, charge.account_id)
    if charge.job_id:
        publish(charge.vault_id, Event.JOB, charge.job_id)
