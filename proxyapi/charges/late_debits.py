"""Late debits: charges that were called uncharged, and that took credits all the same.

A request may arrive when nothing of ours waits for it any more. Within an hour of giving its answer
up, an API debit of its price that nobody has is probably its own. It is counted then: the debit has
a charge, the charge its cost, and what the service did reaches the video.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import evidence, job_effects, transitions
from proxyapi.kinds import UpstreamRecord, script_digest
from proxyapi.models import Charge, Draft
from proxyapi.models.account import amount_text
from proxyapi.operations import SCRIPT_OPERATIONS
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors

LATE_DEBIT_SEARCH_WINDOW = timedelta(
    days=1
)  # since the sending; a ledger may be unreadable for hours
LATE_DEBIT_REASON = (
    "It was called uncharged, and a debit of {cost} cr was booked at {time:%H:%M} UTC: it is "
    "probably its own."
)


def charges_with_late_debit(account_id: UUID) -> list[UUID]:
    """The charges of an account that were called uncharged and may have a debit now; from the
    database alone."""
    since = timezone.now() - LATE_DEBIT_SEARCH_WINDOW
    charges = Charge.objects.assumed_uncharged().filter(account=account_id, sent_at__gte=since)
    ordered = charges.select_related("account").order_by("sent_at")
    return [charge.pk for charge in ordered if ledger.find_late_debit(charge, is_done=True)]


def reconcile_late_debit(charge: Charge) -> None:
    """Match a charge that was called uncharged with its debit, if there is one.

    Nothing follows where its resource cannot be asked now: the next reading of the ledger asks.
    """
    try:
        record: UpstreamRecord | None = evidence.fetch_evidence(charge, Priority.SETTLEMENT)
    except evidence.UNREADABLE_ERRORS:
        record = None
    except (errors.UpstreamError, RateLimitExhausted):
        return
    match_late_debit(charge, record)


@transaction.atomic
def match_late_debit(charge: Charge, record: UpstreamRecord | None) -> None:
    """`record`: the resource, None where it is shown to nobody any more.

    A resource that would show the operation and does not says that the debit is somebody else's.
    """
    transitions.lock_charge_account(charge)
    charge.reload()
    if not charge.is_assumed_uncharged:
        return
    kept = ledger.match_entries(charge.account)  # the others take their own first
    is_done = record is not None and evidence.proves_executed(charge, record)
    if not (is_done or record is None or charge.is_proved_by_debit):
        return
    debit = ledger.find_late_debit(charge, kept, is_done=is_done)
    if debit is None:
        return
    apply_late_result(charge, record or {})
    told = LATE_DEBIT_REASON.format(cost=amount_text(-debit.amount), time=debit.happened_at)
    transitions.mark_charged_late(charge, -debit.amount, told, debit.happened_at)
    ledger.link_late_debit(charge, debit)


def apply_late_result(charge: Charge, record: UpstreamRecord) -> None:
    """As of any answer, but for a script where the page has another one by now: that one stays, and
    goes to the service again before the render. What was written late is kept with the charge."""
    if not (charge.operation in SCRIPT_OPERATIONS and has_newer_script(charge)):
        job_effects.apply_result(charge, record)
        return
    job_effects.apply_result(charge, {})
    job_effects.mark_script_unread(charge)
    Charge.objects.filter(pk=charge.pk).update(result={"script": job_effects.script_text(record)})


def has_newer_script(charge: Charge) -> bool:
    """Whether somebody wrote, or had written, another script since the charge was sent."""
    draft = Draft.objects.filter(job__charges=charge.pk).first()
    page = draft.settings.get("script") if draft else ""
    return bool(page) and script_digest(page) != charge.before.get("script")
