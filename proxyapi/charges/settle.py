"""Settle: find out by reading what became of a charge whose answer got lost (law 2).

The resource first, then the ledger through its mirror. Both together decide; while they do not, the
charge stays `unknown` and says so, and after a quarter of an hour it waits for a person.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import costs, failpoints, ledger
from proxyapi.allowance import AllowanceExhausted, Lane
from proxyapi.charges import effect, evidence, late, outcome, unread, waits
from proxyapi.charges.crash import PARKED, counted
from proxyapi.charges.effect import announce
from proxyapi.charges.send import abandoned
from proxyapi.models import Charge, ChargeState, Entry
from proxyapi.models.account import plain
from proxyapi.models.charge import NEVER_CHARGED
from proxyapi.upstream import errors
from proxyapi.watching import clock, outage

UNCHARGED = "It was never charged. The {hold} cr held are free again. Do it again when you like."


@counted
def settle(charge_id: UUID) -> None:
    """Settle one unknown charge, one that a dead worker left in `sending`, or one that was called
    uncharged and may have a debit now."""
    charge = Charge.objects.loaded(charge_id)
    if charge.state == ChargeState.SENDING and abandoned(charge):
        outcome.unknown(charge, None)
    if not charge.account.is_of_current_upstream:
        return
    if charge.is_called_uncharged:
        late.settle_late(charge)
    if charge.state != ChargeState.UNKNOWN:
        return
    soon = None
    try:
        read_back(charge)
    except AllowanceExhausted as exhausted:
        soon = max(waits.again_after(), timedelta(seconds=exhausted.wait))
    except errors.UpstreamError as error:  # teaches nothing; what we know stays as it is (law 6)
        if not is_young(charge) and unread.asks_for_all(charge, error):
            soon = unread.ASKS_EVERY
        elif error.status is not None and not outage.says(error):
            unread.answered(charge)
    else:
        unread.answered(charge)
    look_again(charge, soon)


def read_back(charge: Charge) -> None:
    is_shown = True
    try:
        record = evidence.look(charge, Lane.SETTLEMENT)
    except evidence.NOT_SHOWN:
        if not (charge.is_proved or charge.is_by_ledger):
            raise
        record, is_shown = {}, False
    failpoints.reach("reconcile")
    # What was proved once stays proved: a retry seen running may have failed again by now.
    if done := charge.is_proved or evidence.carried_out(charge, record):
        effect.took_effect(charge, record)
    decide(charge, done, record, ledger.read(charge, Lane.SETTLEMENT), is_shown)


@transaction.atomic
def decide(
    charge: Charge,
    done: bool,
    record: evidence.Record,
    sight: ledger.Sight,
    is_shown: bool = True,
) -> None:
    """The account is locked meanwhile: one debit does not settle two charges.

    Of what the resource did not show, a debit may tell, and its absence does not.
    """
    outcome.lock_account(charge)
    charge.reread()  # its sender may live, or may have given its answer up only now
    if charge.state != ChargeState.UNKNOWN:
        return
    waited = sight.read_at >= lost_at(charge) + waits.booked_within()
    whole = waited and sight.whole and ledger.still_whole(charge)
    kept = ledger.match(charge.account)  # the others take their own first
    if done:
        debit = ledger.debit_of(charge, kept, waited=waited)
    else:
        debit = ledger.debit_alone(charge, kept)
    if debit is not None:
        settle_by(charge, debit, record)
    elif whole and done and costs.has_free_uses(charge):
        if not ledger.trace_of(charge, by_any_clock=True):
            outcome.spent(charge, ChargeState.MATCHED, Decimal(0))
    elif whole and is_shown and not (done or is_awaited(charge) or ledger.trace_of(charge)):
        outcome.free(charge, UNCHARGED.format(hold=plain(charge.hold)), None, NEVER_CHARGED)


def settle_by(charge: Charge, debit: Entry, record: evidence.Record) -> None:
    effect.took_effect(charge, record)
    outcome.spent(charge, ChargeState.MATCHED, -debit.amount, debit.happened_at)
    if charge.state == ChargeState.MATCHED:
        ledger.take(charge, debit)


def lost_at(charge: Charge) -> datetime:
    """When its answer was given up, or when its sender died that waited for longer."""
    given_up_at = charge.lost_at or charge.sent_at or charge.created_at
    return max(given_up_at, charge.alive_at or given_up_at)


def is_awaited(charge: Charge) -> bool:
    """Whether its sender lives, although a sweep took it for dead."""
    last = charge.alive_at
    return last is not None and last + waits.silence() > timezone.now()


def is_young(charge: Charge) -> bool:
    """Not so where it lies ahead, since the clock was put back: it would be for hours."""
    age = timezone.now() - (charge.sent_at or charge.created_at)
    return -clock.PUT_BACK < age < unread.SELDOM_AFTER


def look_again(charge: Charge, soon: timedelta | None = None) -> None:
    """Look every ten seconds for a quarter of an hour, then every ten minutes: a person decides.

    While its request may be on its way, ever more seldom: only good news can come, and each look
    costs two requests or three. And once just when the service has had its time to book; `soon`:
    when it could not be asked.
    """
    now = timezone.now()
    rest = waits.again_after() if is_young(charge) else soon or timedelta(minutes=10)
    if now < (booked_by := lost_at(charge) + waits.booked_within()):
        age = now - (charge.sent_at or charge.created_at)
        rest = min(max(rest, age / 3), booked_by - now)
    due_at = now + rest
    Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN).update(due_at=due_at)


def again(charge: Charge) -> bool:
    """Read once more at the next tick: a person wants to know, whatever stopped or slowed it.

    False when it was settled meanwhile. One that is being read just now is not read twice.
    """
    now = timezone.now()
    unknown = Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN)
    unknown.filter(code=PARKED).update(code="", reason="", due_at=now)
    unknown.filter(due_at__gt=now + unread.UNDER_WAY).update(due_at=now)
    taken_up = unknown.update(crashes=0)
    announce(charge)
    return bool(taken_up)
