"""Late debits: charges that counted as not charged and took credits after all.

A request can reach the service after we stopped waiting for it, and can be carried out although the
answer refused it. An unmatched API debit of the same price within an hour of giving up, or within
two minutes of the refusal, is probably the charge's own. It is then counted: the debit gets its
charge, the charge its cost, and the result is applied to the video.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import evidence, job_effects, transitions
from proxyapi.kinds import UpstreamRecord, script_digest
from proxyapi.models import Charge, Draft, ScriptVersion
from proxyapi.models.account import amount_text
from proxyapi.operations import SCRIPT_OPERATIONS
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors

# Since the sending; a ledger may be unreadable for hours.
LATE_DEBIT_SEARCH_WINDOW = timedelta(days=1)
LATE_DEBIT_REASON = (
    "It was reported as not charged, but a debit of {cost} cr was recorded at {time:%H:%M} UTC. "
    "It is probably for this charge."
)


def charges_with_late_debit(account_id: UUID) -> list[UUID]:
    """Return ids of the account's charges that were sent, count as not charged and may have a debit
    now. Reads the database only."""
    since = timezone.now() - LATE_DEBIT_SEARCH_WINDOW
    charges = Charge.objects.refused_after_sending().filter(account=account_id, sent_at__gte=since)
    ordered = charges.select_related("account").order_by("sent_at")
    return [charge.pk for charge in ordered if ledger.find_late_debit(charge, is_done=True)]


def reconcile_late_debit(charge: Charge) -> None:
    """Match a charge that counts as not charged with its debit, if there is one.

    Does nothing if the resource cannot be read now; the next ledger sync tries again.
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
    """`record` is the resource, or None if the service no longer shows it.

    A resource that would show the operation and does not proves that the debit is not the charge's.
    """
    transitions.lock_charge_account(charge)
    charge.reload()
    if not charge.may_be_charged_late:
        return
    matched = ledger.match_entries(charge.account)  # other charges are matched first
    is_done = record is not None and evidence.proves_executed(charge, record)
    if not (is_done or record is None or charge.is_proved_by_debit):
        return
    debit = ledger.find_late_debit(charge, matched, is_done=is_done)
    if debit is None:
        return
    apply_late_result(charge, record or {})
    reason = LATE_DEBIT_REASON.format(cost=amount_text(-debit.amount), time=debit.happened_at)
    transitions.mark_charged_late(charge, -debit.amount, reason, debit.happened_at)
    ledger.link_late_debit(charge, debit)


def apply_late_result(charge: Charge, record: UpstreamRecord) -> None:
    """Apply the result, except a script if the draft has another one by now: the draft's script
    stays and is sent again before the render; the late script is kept as a version."""
    if not (charge.operation in SCRIPT_OPERATIONS and has_newer_script(charge)):
        job_effects.apply_result(charge, record)
        return
    job_effects.apply_result(charge, {})
    job_effects.mark_script_unread(charge)
    script, draft = job_effects.script_text(record), Draft.objects.get(job__charges=charge.pk)
    if script and script != draft.settings["script"]:
        ScriptVersion.objects.keep_paid_script(draft.job, charge, script)


def has_newer_script(charge: Charge) -> bool:
    """Whether the draft's script was replaced after the charge was sent."""
    draft = Draft.objects.filter(job__charges=charge.pk).first()
    script = draft.settings.get("script") if draft else ""
    return bool(script) and script_digest(script) != charge.before.get("script")
