"""Idle accounts: whose ledger is read each minute, and whose is not; what makes it due at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.shared.live.event_stream import record_open_pages
from proxyapi import ledger, tasks, viewers
from proxyapi.ledger import activity, sync_schedule
from proxyapi.models import Account, AutoTopUp, ChargeState, LedgerEntry, LedgerMirror, Tenant
from proxyapi.redis_client import connect_redis
from proxyapi.top_up import accounts_due_for_preference_read
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row

LONG_AGO, LATELY = timedelta(days=3), timedelta(minutes=10)
ACTIVE_S = sync_schedule.SYNC_INTERVAL.total_seconds()


@pytest.fixture
def idle(account: Account, scripted_ledger: ScriptedLedger) -> Account:
    """An account whose last row, charge and refund are days old, and whose ledger is known."""
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    long_ago = timezone.now() - LONG_AGO
    Account.objects.update(created_at=long_ago)
    LedgerEntry.objects.update(happened_at=long_ago)
    charge(account, LONG_AGO, ChargeState.CONFIRMED, refund_owed_at=long_ago)
    return account


def charge(account: Account, ago: timedelta, state: ChargeState, **fields: object) -> None:
    at = timezone.now() - ago
    token = account.tokens.get()
    # Booked: its debit need not be looked for.
    times = {"sent_at": at, "settled_at": at, "booked_at": at}
    job = JobFactory(account=account, token=token)
    ChargeFactory(job=job, token=token, state=state, cost=Decimal(4), **times, **fields)


def seconds_to_next_read(account: Account) -> float:
    """After it was read."""
    ledger.sync_account(account.pk)
    mirror = LedgerMirror.objects.get(pk=account.pk)
    assert mirror.due_at
    return (mirror.due_at - timezone.now()).total_seconds()


def test_the_ledger_of_an_idle_account_is_read_each_twelve_minutes(idle: Account) -> None:
    waits = [seconds_to_next_read(idle) for _ in range(10)]
    assert min(waits) > 598
    assert max(waits) <= 840
    # Those that a day's outage made due together do not stay together.
    assert max(waits) - min(waits) > 10


def test_profile_and_preference_of_an_idle_account_are_read_less_often(idle: Account) -> None:
    seconds_to_next_read(idle)
    now = timezone.now()
    AutoTopUp.objects.create(account=idle, due_at=now - timedelta(minutes=5))
    Account.objects.update(refreshed_at=now - timedelta(minutes=20), options_as_of=now)
    profiles = Account.objects.filter(pk=idle.pk)
    assert not profiles.due_for_refresh(now)
    assert accounts_due_for_preference_read(now) == []
    later = now + timedelta(minutes=12)
    assert profiles.due_for_refresh(later)
    assert accounts_due_for_preference_read(later) == [idle.pk]
    record_open_pages({idle.tenant_id}, set())
    assert profiles.due_for_refresh(now)
    assert accounts_due_for_preference_read(now) == [idle.pk]


def open_a_page(account: Account) -> None:
    viewers.record_viewers([account.tenant_id])


def enter_a_row(account: Account) -> None:
    LedgerEntry.objects.update(happened_at=timezone.now() - LATELY)


def fail_a_render(account: Account) -> None:
    charge(account, LONG_AGO, ChargeState.CONFIRMED, refund_owed_at=timezone.now() - LATELY)


@pytest.mark.parametrize(
    "act",
    [
        open_a_page,
        enter_a_row,
        fail_a_render,
        lambda account: charge(account, LONG_AGO, ChargeState.UNKNOWN),
        lambda account: charge(account, timedelta(0), ChargeState.HELD),
        lambda account: charge(account, LATELY, ChargeState.CONFIRMED),
        lambda account: Account.objects.update(created_at=timezone.now()),
    ],
)
def test_an_active_one_is_read_each_minute(idle: Account, act: Callable[[Account], None]) -> None:
    act(idle)
    assert seconds_to_next_read(idle) < ACTIVE_S


def test_it_becomes_idle_half_an_hour_after_its_last_row(idle: Account) -> None:
    LedgerEntry.objects.update(happened_at=timezone.now() - activity.ACTIVE_FOR)
    assert seconds_to_next_read(idle) > ACTIVE_S


@pytest.mark.parametrize("field", ["low", "doubts"])
def test_one_that_is_not_known_to_the_end_is_active(idle: Account, field: str) -> None:
    mirror = LedgerMirror.objects.select_related("account").get(pk=idle.pk)
    assert activity.is_idle(mirror, timezone.now())
    setattr(mirror, field, 1)
    assert not activity.is_idle(mirror, timezone.now())


def test_without_redis_an_account_counts_as_active(idle: Account, settings, tmp_path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    assert not activity.is_idle(LedgerMirror.objects.get(pk=idle.pk), timezone.now())


def is_due(account: Account) -> bool:
    return account.pk in ledger.accounts_due_for_sync(timezone.now())


def test_when_somebody_comes_it_is_due_at_once(idle: Account) -> None:
    now = timezone.now()
    mirrors = LedgerMirror.objects.filter(pk=idle.pk)
    due_at = now + timedelta(minutes=8)
    mirrors.update(read_at=now - timedelta(minutes=2), due_at=due_at, is_idle=True)
    other = Tenant.objects.create()
    record_open_pages({other.pk}, set())
    assert not is_due(idle)
    record_open_pages({idle.tenant_id}, set())
    assert is_due(idle)
    # The page stays open: that is no coming.
    mirrors.update(due_at=due_at, is_idle=True)
    record_open_pages({idle.tenant_id}, set())
    assert not is_due(idle)


def test_what_was_read_within_the_minute_or_failed_stays_as_it_is(idle: Account) -> None:
    now = timezone.now()
    mirrors = LedgerMirror.objects.filter(pk=idle.pk)
    mirrors.update(read_at=now, due_at=now + timedelta(minutes=8), is_idle=True)
    record_open_pages({idle.tenant_id}, set())
    assert not is_due(idle)
    connect_redis().flushdb()
    mirrors.update(read_at=now - timedelta(minutes=2), troubles=2, is_idle=True)
    record_open_pages({idle.tenant_id}, set())
    assert not is_due(idle)


def test_a_due_account_is_enqueued_once_while_the_workers_are_busy(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    monkeypatch.setattr(tasks.sync_ledger_task, "delay", sent.append)
    for _ in range(3):
        tasks.sync_due_ledgers()
    assert sent == [str(account.pk)]
    (key,) = connect_redis().keys("ledger-sync-queued:*")
    assert 0 < connect_redis().ttl(key) <= ledger.MESSAGE_LIFETIME_S
    connect_redis().delete(key)  # the message has expired without a worker
    tasks.sync_due_ledgers()
    assert len(sent) == 2
