"""Manual settlement: how a person ends a charge that reading could not settle."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import job_effects, transitions
from proxyapi.ledger import entry_changes
from proxyapi.models import Charge, ChargeState, LedgerEntry, MatchConfidence
from proxyapi.refusals import StaleData

ALREADY_SETTLED = "This is already resolved. Nothing was changed."
MATCHED_BY_PERSON = "A member matched this debit."
ENTRY_TAKEN = "This ledger row has changed or is already matched. Nothing was changed."
ENTRY_OF_OTHER_TEAM = (
    "This debit belongs to a charge of another team that uses this account. Nothing was changed."
)


@transaction.atomic
def write_off_charge(charge: Charge, member_id: int, reason: str) -> Charge:
    """Give up an unknown charge: its hold is released, its cost stays unknown, the reason is kept.

    Raises `StaleData` if it was settled meanwhile.
    """
    transitions.lock_charge_account(charge)
    transitions.lock_charge_jobs(charge)
    check_still_unknown(charge)
    Charge.objects.transition(
        charge,
        ChargeState.WRITTEN_OFF,
        decided_by_id=member_id,
        reason=reason,
        settled_at=timezone.now(),
    )
    job_effects.mark_script_unread(charge)
    transitions.finish_charge(charge)
    return charge


@transaction.atomic
def settle_with_entry(
    charge: Charge, entry: LedgerEntry, member_id: int, seen: Decimal | None = None
) -> Charge:
    """Settle an unknown charge with the debit that a person selected; `seen` is its amount as
    shown, in credits.

    Raises `StaleData` if the charge or the entry was settled or changed meanwhile, and ValueError
    if the entry is not a debit of the charge's account.
    """
    if entry.account_id != charge.account_id or entry.amount >= 0:
        raise ValueError("a charge is settled by a debit of its own account")
    transitions.lock_charge_account(charge)
    transitions.lock_charge_jobs(charge)
    check_still_unknown(charge)
    debit = LedgerEntry.objects.filter(pk=entry.pk).first()  # it may have been removed
    if debit is None or debit.charge_id is not None or seen not in (None, -entry.amount):
        raise StaleData(ENTRY_TAKEN)
    if not LedgerEntry.objects.without_charge().filter(pk=entry.pk).exists():
        raise StaleData(ENTRY_OF_OTHER_TEAM)
    Charge.objects.filter(pk=charge.pk).update(decided_by_id=member_id)
    job_effects.apply_result(charge, {})
    job_effects.mark_script_unread(charge)
    transitions.mark_charged(charge, ChargeState.MATCHED, -debit.amount, debit.happened_at)
    ledger.link_entry_to_charge(debit, charge, MatchConfidence.CERTAIN, MATCHED_BY_PERSON)
    entry_changes.record_entry_changes(charge.account, [debit.happened_at])
    return charge


def check_still_unknown(charge: Charge) -> None:
    charge.refresh_from_db()
    if charge.state != ChargeState.UNKNOWN:
        raise StaleData(ALREADY_SETTLED)
