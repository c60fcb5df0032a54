"""Outcomes: what a charge becomes, and what that does to its job. All writes of one outcome are
atomic."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import drafts
from proxyapi.events import Event, publish
from proxyapi.models import Charge, ChargeState, JobState
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Reply
from proxyapi.watching import FIRST_LOOK

READ_BACK_AFTER = timedelta(seconds=5)
STARTS_RENDERING = ("faceless.render", "faceless.retry", "faceless.export")
WRITES_SCRIPT = ("faceless.scripts", "faceless.scrape_script")


def answered(charge: Charge, reply: Reply) -> None:
    """A success was answered. Without a readable cost the ledger has to say what it took."""
    with transaction.atomic():
        took_effect(charge, drafts.record(reply.data))
        if reply.credits is None or reply.credits.cost is None:
            unknown(charge, None)
        else:
            spent(charge, ChargeState.CONFIRMED, reply.credits.cost)


def spent(charge: Charge, state: ChargeState, cost: Decimal) -> None:
    now = timezone.now()
    if Charge.objects.move(charge, state, cost=cost, settled_at=now, reason="", code=""):
        announce(charge)


def refused(charge: Charge, error: errors.UpstreamError) -> None:
    """The service said no before charging anything."""
    if isinstance(error, errors.InsufficientCredits) and error.available is not None:
        charge.account.note_balance(error.available, timezone.now())
    free(charge, error.user_message, error)


def never_sent(charge: Charge, error: Exception) -> None:
    free(
        charge,
        "Not sent for a quarter of an hour, so it was given up. Nothing was charged.",
        error,
    )


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
        announce(charge)


def unknown(charge: Charge, error: errors.UpstreamError | None) -> None:
    """The answer got lost on the way: whether it was charged is read back, never tried again."""
    moved = Charge.objects.move(
        charge,
        ChargeState.UNKNOWN,
        status=error.status if error else None,
        code=error.code[:60] if error else "",
        due_at=timezone.now() + READ_BACK_AFTER,
    )
    if moved:
        announce(charge)


def delayed(charge: Charge, error: Exception) -> None:
    """Still held; the page says what it waits for."""
    charge.reason = (
        getattr(error, "user_message", "") or "All requests of this minute are used; it is next."
    )
    charge.save(update_fields=["reason"])
    announce(charge)


def took_effect(charge: Charge, record: dict[str, object]) -> None:
    """The operation was carried out upstream: the job goes on from there."""
    job = charge.job
    if job is None:
        return
    if charge.operation in STARTS_RENDERING and job.state != JobState.RUNNING:
        job.start(timezone.now(), FIRST_LOOK)
    elif charge.operation in WRITES_SCRIPT and isinstance(script := record.get("script"), str):
        job.wanted = {**job.wanted, "script": script}
        job.sent = {**job.sent, "script": script}
        job.estimate, job.edited_at = None, timezone.now()
        if not drafts.missing(job.wanted):
            job.quote_due_at = job.edited_at  # the next tick asks the new price
        job.save(update_fields=["wanted", "sent", "estimate", "edited_at", "quote_due_at"])
    publish(job.vault_id, Event.JOB, job.pk)


def announce(charge: Charge) -> None:
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    publish(charge.vault_id, Event.ACCOUNT, charge.account_id)
    if charge.job_id:
        publish(charge.vault_id, Event.JOB, charge.job_id)
