"""Rows that people wait for: what they did themselves is in the ledger within seconds."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi import calls, ledger
from proxyapi.ledger import sync_schedule
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror, Token
from proxyapi.rate_limiter import Permit, Priority, RateLimitExhausted
from proxyapi.redis_client import connect_redis
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row

SPENT_UP = 40.0  # seconds until the mirroring lane gets its next request


class ExhaustedRateLimiter:
    """An allowance that has nothing left for mirroring; it counts what the other lanes got."""

    def __init__(self) -> None:
        self.granted: Counter[Priority] = Counter()

    def admit(self, _token: Token, lane: Priority, *_: object) -> Permit:
        if lane is Priority.LEDGER_SYNC:
            raise RateLimitExhausted(SPENT_UP)
        self.granted[lane] += 1
        return Permit(True, 0)


@pytest.fixture
def exhausted_limiter(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> ExhaustedRateLimiter:
    """A rate limit with nothing left for mirroring; it counts what the other priorities got."""
    scripted_ledger.add_row(ledger_row(-2))
    ledger.sync_account(account.pk)
    busy = ExhaustedRateLimiter()
    monkeypatch.setattr(calls, "acquire_permit", busy.admit)
    return busy


def spend(account: Account, book: ScriptedLedger) -> Charge:
    """A charge that was settled just now, and its row."""
    job = JobFactory(account=account, token=account.tokens.get(), remote_id=str(len(book.rows)))
    now = timezone.now()
    book.add_row(ledger_row(-4, created_at=now.isoformat()))
    charge: Charge = ChargeFactory(
        job=job, state=ChargeState.CONFIRMED, sent_at=now, settled_at=now, cost=Decimal(4)
    )
    return charge


def test_the_row_of_a_charge_comes_though_mirroring_has_spent_its_share(
    account: Account, scripted_ledger: ScriptedLedger, exhausted_limiter: ExhaustedRateLimiter
) -> None:
    """And it is told that it was spent through the API, without which it is nobody's."""
    spend(account, scripted_ledger)
    ledger.sync_account(account.pk)
    assert list(LedgerEntry.objects.values_list("via_api", flat=True)) == [True, True]
    assert set(exhausted_limiter.granted) == {Priority.SETTLEMENT}
    assert exhausted_limiter.granted[Priority.SETTLEMENT] <= 3


def test_it_does_not_wait_for_the_anchor(
    account: Account, scripted_ledger: ScriptedLedger, exhausted_limiter: ExhaustedRateLimiter
) -> None:
    LedgerMirror.objects.update(anchor_balance=None, anchor_high=None, checkpoint_high=None)
    spend(account, scripted_ledger)
    ledger.sync_account(account.pk)
    assert LedgerEntry.objects.count() == 2


def test_the_first_charge_of_a_new_account_does_not_wait_for_the_schedule(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first turn got nothing, so that its ledger was never read when the charge settled."""
    busy = ExhaustedRateLimiter()
    monkeypatch.setattr(calls, "acquire_permit", busy.admit)
    ledger.sync_account(account.pk)
    assert account.pk not in sync_schedule.accounts_due_for_sync(timezone.now())
    spend(account, scripted_ledger)
    assert account.pk in sync_schedule.accounts_due_for_sync(timezone.now())
    ledger.sync_account(account.pk)
    assert list(LedgerEntry.objects.values_list("via_api", flat=True)) == [True]
    assert account.pk not in sync_schedule.accounts_due_for_sync(timezone.now())


def test_rule_5_it_goes_before_polls_a_few_times_a_minute_only(
    account: Account, scripted_ledger: ScriptedLedger, exhausted_limiter: ExhaustedRateLimiter
) -> None:
    connect_redis().set("rate-limit:epoch", 1)  # a Redis that has remembered for long
    for _ in range(sync_schedule.MAX_URGENT_READS_PER_MINUTE * 2):
        spend(account, scripted_ledger)
        ledger.sync_account(account.pk)
    assert LedgerEntry.objects.count() == 1 + sync_schedule.MAX_URGENT_READS_PER_MINUTE
    assert (
        exhausted_limiter.granted[Priority.SETTLEMENT]
        <= 3 * sync_schedule.MAX_URGENT_READS_PER_MINUTE
    )


def test_what_others_spent_waits_for_the_schedule(
    account: Account, scripted_ledger: ScriptedLedger, exhausted_limiter: ExhaustedRateLimiter
) -> None:
    scripted_ledger.add_row(ledger_row(-4))
    LedgerMirror.objects.update(read_at=timezone.now() - timedelta(minutes=2))
    ledger.sync_account(account.pk)
    assert exhausted_limiter.granted == Counter()


@pytest.mark.usefixtures("small_pages")
def test_of_many_new_rows_two_pages_are_read_at_once(
    account: Account, scripted_ledger: ScriptedLedger, exhausted_limiter: ExhaustedRateLimiter
) -> None:
    scripted_ledger.add_row(*[ledger_row(-1) for _ in range(100)])
    spend(account, scripted_ledger)
    ledger.sync_account(account.pk)
    assert exhausted_limiter.granted[Priority.SETTLEMENT] <= 2
