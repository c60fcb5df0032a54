"""Settle: find out by reading what became of a charge whose answer got lost (law 2).

The resource first, then the newest part of the ledger. Both together decide; while they do not, the
charge stays `unknown` and says so, and after a quarter of an hour it waits for a person.
"""

from __future__ import annotations

import contextlib
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from proxyapi import calls, drafts, ledger
from proxyapi.allowance import AllowanceExhausted, Lane
from proxyapi.charges import evidence, outcome
from proxyapi.models import Charge, ChargeState
from proxyapi.upstream import errors

AGAIN_AFTER = timedelta(seconds=10)
# The service may book a moment after it answered nothing: "no trace" counts only after this long.
BOOKED_WITHIN = timedelta(seconds=30)
NEEDS_A_PERSON_AFTER = timedelta(minutes=15)
NEVER_CHARGED = (
    "It was never charged. The {hold} cr held are free again. Do it again when you like."
)


def settle(charge_id: UUID) -> None:
    """Settle one unknown charge, or one that a dead worker left in `sending`."""
    charge = Charge.objects.select_related("job", "token__account", "account").get(pk=charge_id)
    if charge.state == ChargeState.SENDING and charge.due_at <= timezone.now():
        outcome.unknown(charge, None)
    if charge.state != ChargeState.UNKNOWN:
        return
    # A failed look teaches nothing; what we know stays as it is (law 6).
    with contextlib.suppress(errors.UpstreamError, AllowanceExhausted):
        read_back(charge)
    look_again(charge)


def read_back(charge: Charge) -> None:
    record = read_resource(charge)
    done = evidence.carried_out(charge, record)
    debit = ledger.debit_of(charge, Lane.SETTLEMENT)
    if done:
        outcome.took_effect(charge, record)
    if debit is not None:
        if not done:
            outcome.took_effect(charge, record)
        outcome.spent(charge, ChargeState.MATCHED, debit)
    elif not done and charge.sent_at and timezone.now() - charge.sent_at > BOOKED_WITHIN:
        outcome.free(charge, NEVER_CHARGED.format(hold=plain(charge.hold)), None)


def read_resource(charge: Charge) -> dict[str, object]:
    path = {"id": str(charge.job.remote_id)} if charge.job else {}
    reply = calls.call(charge.token, "faceless.get", Lane.SETTLEMENT, patience=2, path=path)
    return drafts.record(reply.data)


def look_again(charge: Charge) -> None:
    """Look every ten seconds for a quarter of an hour, then every ten minutes: a person decides."""
    age = timezone.now() - (charge.sent_at or charge.created_at)
    wait = AGAIN_AFTER if age < NEEDS_A_PERSON_AFTER else timedelta(minutes=10)
    Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN).update(
        due_at=timezone.now() + wait
    )


def plain(amount: Decimal) -> str:
    return f"{amount.normalize():f}"
