"""Decision: how a person ends a charge that reading could not settle."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import effect, outcome
from proxyapi.ledger import changes
from proxyapi.models import Charge, ChargeState, Confidence, Entry
from proxyapi.refusals import Stale

SETTLED = "This was settled meanwhile. Nothing was changed."
SAID = "Somebody said that this debit is its own."
TAKEN = "This row of the ledger is another one by now, or something else’s. Nothing was changed."
ANOTHER_TEAMS = (
    "This debit belongs to a charge of another team that uses this account. Nothing was changed."
)


@transaction.atomic
def write_off(charge: Charge, member_id: int, reason: str) -> Charge:
    """Give up an unknown charge: its hold is free, its cost stays unknown, the reason is kept.

    Raises `Stale` when it was settled meanwhile.
    """
    outcome.lock_account(charge)
    outcome.lock_jobs(charge)
    check_unknown(charge)
    Charge.objects.move(
        charge,
        ChargeState.WRITTEN_OFF,
        decided_by_id=member_id,
        reason=reason,
        settled_at=timezone.now(),
    )
    effect.script_unknown(charge)
    outcome.ended(charge)
    return charge


@transaction.atomic
def claim_entry(
    charge: Charge, entry: Entry, member_id: int, seen: Decimal | None = None
) -> Charge:
    """Settle an unknown charge by the debit that a person says is its own; `seen`: its credits as
    they were shown.

    Raises `Stale` when one of the two was settled meanwhile, or is another one; ValueError for a
    row that is no debit of the charge's account.
    """
    if entry.account_id != charge.account_id or entry.amount >= 0:
        raise ValueError("a charge is settled by a debit of its own account")
    outcome.lock_account(charge)
    outcome.lock_jobs(charge)
    check_unknown(charge)
    found = Entry.objects.filter(pk=entry.pk).first()  # it may be gone by now
    if found is None or found.charge_id is not None or seen not in (None, -entry.amount):
        raise Stale(TAKEN)
    if not Entry.objects.without_charge().filter(pk=entry.pk).exists():
        raise Stale(ANOTHER_TEAMS)
    Charge.objects.filter(pk=charge.pk).update(decided_by_id=member_id)
    effect.took_effect(charge, {})
    effect.script_unknown(charge)
    outcome.spent(charge, ChargeState.MATCHED, -found.amount, found.happened_at)
    ledger.link(found, charge, Confidence.CERTAIN, SAID)
    changes.note(charge.account, [found.happened_at])
    return charge


def check_unknown(charge: Charge) -> None:
    charge.refresh_from_db()
    if charge.state != ChargeState.UNKNOWN:
        raise Stale(SETTLED)
