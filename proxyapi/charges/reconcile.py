"""Reconcile: find out by reading what became of a charge whose answer was lost (rule 2).

The resource is read first, then the ledger through its mirror; both together decide. Until they do,
the charge stays `unknown`, and after 15 minutes it needs a person's decision.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import failpoints, ledger, pricing
from proxyapi.charges import (
    evidence,
    job_effects,
    late_debits,
    reconcile_backlog,
    timeouts,
    transitions,
)
from proxyapi.charges.dispatch import is_sender_dead
from proxyapi.charges.job_effects import publish_charge_events
from proxyapi.charges.quarantine import QUARANTINED, quarantine_failing_charge
from proxyapi.clock_offset import NO_OFFSET, clock_offset_at_sending, read_clock_offset
from proxyapi.kinds import UpstreamRecord
from proxyapi.models import Charge, ChargeState, LedgerEntry
from proxyapi.models.charge import MATCH_REMOVED_CODE
from proxyapi.polling import circuit_breaker, clock_rollback
from proxyapi.rate_limiter import Priority, RateLimitExhausted
from proxyapi.upstream import errors


@quarantine_failing_charge
def reconcile_charge(charge_id: UUID) -> None:
    """Settle one unknown charge, one left in `sending` by a dead worker, or one that counts as not
    charged and may have a debit now."""
    charge = Charge.objects.get_with_relations(charge_id)
    if charge.state == ChargeState.SENDING and is_sender_dead(charge):
        transitions.mark_unknown(charge, None)
    if not charge.account.is_of_current_upstream:
        return
    if charge.may_be_charged_late:
        late_debits.reconcile_late_debit(charge)
    if charge.state != ChargeState.UNKNOWN:
        return
    soon = None
    try:
        read_back_charge(charge)
    except RateLimitExhausted as exhausted:
        soon = max(timeouts.retry_interval(), timedelta(seconds=exhausted.wait))
    except errors.UpstreamError as error:  # no evidence; the charge does not change (rule 6)
        if not is_recently_sent(charge) and reconcile_backlog.join_backlog(charge, error):
            soon = reconcile_backlog.PROBE_INTERVAL
        elif error.status is not None and not circuit_breaker.is_outage_error(error):
            reconcile_backlog.wake_backlog(charge)
    else:
        reconcile_backlog.wake_backlog(charge)
    schedule_next_read(charge, soon)


def read_back_charge(charge: Charge) -> None:
    is_shown = True
    try:
        record = evidence.fetch_evidence(charge, Priority.SETTLEMENT)
    except evidence.UNREADABLE_ERRORS:
        if not (charge.is_proven_executed or charge.is_proved_by_debit):
            raise
        record, is_shown = {}, False
    failpoints.hit_failpoint("reconcile")
    # A proof stays valid: a retry that was read as running may have failed again since.
    if done := charge.is_proven_executed or evidence.proves_executed(charge, record):
        job_effects.apply_result(charge, record)
    decide_charge(
        charge, done, record, ledger.mirror_charge_period(charge, Priority.SETTLEMENT), is_shown
    )


@transaction.atomic
def decide_charge(
    charge: Charge,
    done: bool,
    record: UpstreamRecord,
    coverage: ledger.MirrorCoverage,
    is_shown: bool = True,
) -> None:
    """Settle the charge if the evidence is sufficient. The account is locked, so that one debit
    does not settle two charges.

    With `is_shown` False the resource could not be read: a debit can then prove the charge, but a
    missing debit proves nothing.
    """
    transitions.lock_charge_account(charge)
    charge.reload()  # its sender may be alive, or may just have given up waiting for the answer
    if charge.state != ChargeState.UNKNOWN or charge.code == MATCH_REMOVED_CODE:
        return  # a person decides: by amount and time it would be matched with the same debit
    is_grace_over = coverage.read_at >= answer_lost_at(charge) + timeouts.booking_grace()
    is_ledger_complete = is_grace_over and coverage.is_complete and ledger.is_still_covered(charge)
    matched = ledger.match_entries(charge.account)  # other charges are matched first
    if done:
        debit = ledger.find_charge_debit(charge, matched, waited=is_grace_over)
    else:
        debit = ledger.find_proving_debit(charge, matched)
    if debit is not None:
        settle_by_debit(charge, debit, record)
    elif (
        is_ledger_complete
        and done
        and (pricing.can_be_free(charge) or charge.code == transitions.REPORTED_FREE_CODE)
    ):
        if not ledger.has_possible_debit(charge, by_any_clock=True):
            transitions.mark_charged(charge, ChargeState.MATCHED, Decimal(0))
    elif (
        is_ledger_complete
        and is_shown
        and not (done or is_sender_alive(charge) or ledger.has_possible_debit(charge))
    ):
        transitions.end_without_evidence(charge)


def settle_by_debit(charge: Charge, debit: LedgerEntry, record: UpstreamRecord) -> None:
    job_effects.apply_result(charge, record)
    transitions.mark_charged(charge, ChargeState.MATCHED, -debit.amount, debit.happened_at)
    if charge.state == ChargeState.MATCHED:
        ledger.link_settling_debit(charge, debit)


def answer_lost_at(charge: Charge) -> datetime:
    """When waiting for the answer ended, or when a sender that waited longer died, by our clock as
    it goes now."""
    given_up_at = charge.lost_at or charge.sent_at or charge.created_at
    # Our clock may have been slow then and be right now: its hours have not passed.
    put_forward = clock_offset_at_sending(charge.before) - read_clock_offset()
    return max(given_up_at, charge.heartbeat_at or given_up_at) + max(NO_OFFSET, put_forward)


def is_sender_alive(charge: Charge) -> bool:
    """Whether the sender still runs although a sweep assumed it dead."""
    last = charge.heartbeat_at
    return last is not None and last + timeouts.heartbeat_timeout() > timezone.now()


def is_recently_sent(charge: Charge) -> bool:
    """False for a time in the future: after the clock was set back it would stay recent for
    hours."""
    age = timezone.now() - (charge.sent_at or charge.created_at)
    return -clock_rollback.MAX_CLOCK_ROLLBACK < age < reconcile_backlog.SLOW_READS_AFTER


def schedule_next_read(charge: Charge, soon: timedelta | None = None) -> None:
    """Schedule the next read: every `timeouts.retry_interval` for a quarter of an hour, then every
    ten minutes until a person decides.

    While the request may still be in progress the interval grows: only a success can be found, and
    each read costs two or three requests. One read is scheduled exactly at the end of the booking
    grace. `soon` is the delay if the evidence could not be read.
    """
    now = timezone.now()
    interval = (
        timeouts.retry_interval() if is_recently_sent(charge) else soon or timedelta(minutes=10)
    )
    if now < (booked_by := answer_lost_at(charge) + timeouts.booking_grace()):
        age = now - (charge.sent_at or charge.created_at)
        interval = min(max(interval, age / 3), booked_by - now)
    due_at = now + interval
    Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN).update(due_at=due_at)


def reconcile_now(charge: Charge) -> bool:
    """Read the charge once more at the next tick because a person requested it, whatever stopped or
    slowed it.

    Return False if it was settled meanwhile. A read that is in progress is not repeated.
    """
    now = timezone.now()
    unknown = Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN)
    unknown.filter(code=QUARANTINED).update(code="", reason="", due_at=now)
    unknown.filter(due_at__gt=now + reconcile_backlog.MAX_READ_DURATION).update(due_at=now)
    updated = unknown.update(failures=0)
    publish_charge_events(charge)
    return bool(updated)
