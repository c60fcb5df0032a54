"""Manual settlement: how a person ends a charge that reading could not settle."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import job_effects, transitions
from proxyapi.ledger import entry_changes
from proxyapi.models import Charge, ChargeState, LedgerEntry, MatchConfidence
from proxyapi.models.charge import MATCH_REMOVED_CODE
from proxyapi.refusals import StaleData
from proxyapi.rollups import price_counts

MATCHED_BY_PERSON_REASON = "A member matched this debit."
ALREADY_SETTLED = "This is already resolved. Nothing was changed."
TAKEN_BACK_REASON = "A member removed its match with a debit. Match another entry or write it off."
NO_MATCH = "This charge is not matched with a debit. Nothing was changed."
COST_REPORTED = (
    "The service itself reported what this charge cost. Only a match that was made by amount and "
    "time can be removed."
)
REFUND_MATCHED = "This charge was refunded, so its match stays. Nothing was changed."
REQUESTED_AGAIN = (
    "The same was requested again and is not settled yet. Remove the match when it is."
)
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
    ledger.link_entry_to_charge(debit, charge, MatchConfidence.CERTAIN, MATCHED_BY_PERSON_REASON)
    entry_changes.record_entry_changes(charge.account, [debit.happened_at])
    return charge


def find_match_obstacle(charge: Charge) -> str:
    """Why the match of this charge cannot be removed; empty if it can be."""
    if charge.state != ChargeState.MATCHED or not charge.entries.filter(amount__lt=0).exists():
        return NO_MATCH
    if not charge.cost_from_debit:
        return COST_REPORTED
    if charge.refunded_at is not None:
        return REFUND_MATCHED
    again = Charge.objects.open().filter(
        job=charge.job_id, operation=charge.operation, path=charge.path, applied_at=None
    )
    if charge.job_id and charge.applied_at is None and again.exists():
        return REQUESTED_AGAIN
    return ""


@transaction.atomic
def remove_match(charge: Charge, member_id: int) -> LedgerEntry:
    """Undo a match by amount and time: the charge is unknown again and holds its credits until a
    person settles it, and its debit, which is returned, is outside the portal.

    Raises `StaleData` if there is no such match.
    """
    transitions.lock_charge_account(charge)
    transitions.lock_charge_jobs(charge)
    charge.refresh_from_db()
    if obstacle := find_match_obstacle(charge):
        raise StaleData(obstacle)
    debit = charge.entries.get(amount__lt=0)
    price_counts.uncount_charge(charge)
    Charge.objects.transition(
        charge,
        ChargeState.UNKNOWN,
        cost=None,
        cost_from_debit=False,
        booked_at=None,
        settled_at=None,
        refund_owed_at=None,
        unidentified_at=None,
        decided_by_id=member_id,
        code=MATCH_REMOVED_CODE,
        reason=TAKEN_BACK_REASON,
    )
    ledger.unlink_entry(debit)
    job_effects.publish_charge_events(charge)
    return debit


def check_still_unknown(charge: Charge) -> None:
    charge.refresh_from_db()
    if charge.state != ChargeState.UNKNOWN:
        raise StaleData(ALREADY_SETTLED)
