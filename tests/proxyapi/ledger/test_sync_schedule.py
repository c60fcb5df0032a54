"""Whose ledger is read when: every minute, soon after a charge, rarely in times of trouble."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.utils import timezone

from dashboard.celery import app
from proxyapi import calls, ledger, tasks
from proxyapi.events import EventType
from proxyapi.ledger import entry_changes, sync_schedule
from proxyapi.models import Account, ChargeState, LedgerEntry, LedgerMirror, Token, TokenState
from proxyapi.rate_limiter import Permit, Priority, RateLimitExhausted, apply_rate_limit_headers
from proxyapi.redis_client import connect_redis
from proxyapi.rollups import daily_totals
from tests.factories import ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.ledger.conftest import LEDGER_START, ScriptedLedger, ledger_row
from tests.proxyapi.scripted_upstream import ScriptedUpstream


def is_due(account: Account, seconds: float = 0) -> bool:
    return account.pk in ledger.accounts_due_for_sync(timezone.now() + timedelta(seconds=seconds))


def test_a_new_account_is_read_and_gets_a_checkpoint_at_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-4))
    assert is_due(account)
    ledger.sync_account(account.pk)
    row = LedgerMirror.objects.get()
    assert (row.high, row.anchor_high, row.lease_expires_at) == (1, 1, None)


def test_it_is_read_again_within_a_minute(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Whose turn it is, is looked at every few seconds: the minute includes the last of these."""
    beat = app.conf.beat_schedule["ledgers"]["schedule"]
    ledger.sync_account(account.pk)
    assert not is_due(account, 50)
    assert is_due(account, 60 - beat)


def test_a_sync_of_older_rows_does_not_delay_the_newest(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.sync_account(account.pk)
    LedgerMirror.objects.update(read_at=timezone.now() - timedelta(seconds=40))
    monkeypatch.setattr(sync_schedule, "mirror_and_take_checkpoint", lambda _: None)
    ledger.sync_account(account.pk)
    assert not is_due(account, 14)
    assert is_due(account, 15)


def test_pitfall_30_a_sync_without_news_is_one_request(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(*[ledger_row(-4) for _ in range(120)])
    ledger.sync_account(account.pk)
    scripted_ledger.pages.clear()
    ledger.sync_account(account.pk)
    assert scripted_ledger.pages == [(3, "")]


def test_it_is_read_soon_after_a_charge_was_settled(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    ledger.sync_account(account.pk)
    job = JobFactory(account=account, token=account.tokens.get(), remote_id="9")
    now = timezone.now()
    ChargeFactory(
        job=job, state=ChargeState.CONFIRMED, sent_at=now, settled_at=now, cost=Decimal(4)
    )
    assert is_due(account)
    ledger.sync_account(account.pk)
    assert not is_due(account)


@pytest.mark.usefixtures("small_pages")
def test_an_exhausted_rate_limit_is_waited_for(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted_ledger.add_row(*[ledger_row(-4) for _ in range(100)])
    left = iter([None] * 7)

    def admit(*_: object) -> Permit:
        if next(left, "none") is not None:
            raise RateLimitExhausted(7)
        return Permit(True, 0)

    monkeypatch.setattr(calls, "acquire_permit", admit)
    ledger.sync_account(account.pk)
    row = LedgerMirror.objects.get()
    assert 0 < row.low < row.high == 100
    assert row.troubles == 0
    assert not is_due(account, 5)
    assert is_due(account, 8)


class OneRequestPerSync:
    """An allowance of one request a turn, but for who waits for another."""

    left = 0

    def admit(self, _token: Token, _lane: Priority, patience: float = 0, *_: object) -> Permit:
        if self.left == 0 and not patience:
            raise RateLimitExhausted(5)
        self.left = max(0, self.left - 1)
        return Permit(True, 0)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("apart", [0.0, 0.5])
def test_one_request_a_sync_is_enough_for_a_long_history(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch, apart: float
) -> None:
    for number in range(106):
        scripted_ledger.add_row(ledger_row(-1, apart * number), web=number % 4 == 0)
    bucket = OneRequestPerSync()
    monkeypatch.setattr(calls, "acquire_permit", bucket.admit)
    assert syncs_until_attributed(account, scripted_ledger, bucket) <= 24
    scripted_ledger.add_row(*[ledger_row(-2, 900) for _ in range(24)])
    LedgerMirror.objects.update(read_at=timezone.now() - timedelta(minutes=2))
    assert syncs_until_attributed(account, scripted_ledger, bucket) <= 8


def syncs_until_attributed(
    account: Account, book: ScriptedLedger, bucket: OneRequestPerSync
) -> int:
    for number in range(50):
        if is_attributed(account) and LedgerEntry.objects.count() == len(book.rows):
            return number
        bucket.left = 1
        ledger.sync_account(account.pk)
    return 50


class BorrowedRequestOnly(OneRequestPerSync):
    """However long another one is waited for, it does not come in this turn."""

    def admit(self, token: Token, lane: Priority, *_: object) -> Permit:
        return super().admit(token, lane)


def bucket_under_polling(account: Account, looks: int) -> None:
    """The bucket of its token while videos are looked at so often in a minute."""
    apply_rate_limit_headers(connect_redis(), account.tokens.get().bucket, 30, 30 - looks)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("looks", [12, 24, 28])
def test_the_request_that_is_lent_while_videos_run_fills_the_history(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """The anchor takes three at once: one alone would read the ledger's end for it every time."""
    bucket_under_polling(account, looks)
    scripted_ledger.add_row(*[ledger_row(-1, number) for number in range(46)])
    bucket = BorrowedRequestOnly()
    monkeypatch.setattr(calls, "acquire_permit", bucket.admit)
    assert syncs_until_attributed(account, scripted_ledger, bucket) <= 16
    assert LedgerMirror.objects.get().anchor_balance is None


@pytest.mark.usefixtures("small_pages")
def test_with_room_for_it_the_anchor_goes_before_the_history(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket_under_polling(account, 9)
    scripted_ledger.add_row(*[ledger_row(-1, number) for number in range(46)])
    bucket = BorrowedRequestOnly()
    bucket.left = 4  # one more tells where the end is
    monkeypatch.setattr(calls, "acquire_permit", bucket.admit)
    ledger.sync_account(account.pk)
    row = LedgerMirror.objects.get()
    assert (row.anchor_balance, row.anchor_high, row.low) == (10_000, 46, 40)


def is_attributed(account: Account) -> bool:
    row = LedgerMirror.objects.filter(pk=account.pk).first()
    told = not LedgerEntry.objects.filter(via_api=None).exists()
    return row is not None and row.is_complete and row.high == row.total and told


def test_failures_make_syncs_rare_and_one_success_ends_it(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.cut_after = 0
    waits = []
    for _ in range(6):
        ledger.sync_account(account.pk)
        due_at = LedgerMirror.objects.get().due_at
        assert due_at is not None
        waits.append(round((due_at - timezone.now()).total_seconds() / 60))
    assert waits == [2, 4, 8, 15, 15, 15]
    scripted_ledger.cut_after = None
    ledger.sync_account(account.pk)
    assert LedgerMirror.objects.get().troubles == 0
    assert is_due(account, 65)


def test_two_workers_do_not_read_one_ledger_at_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    LedgerMirror.objects.update(
        lease_expires_at=timezone.now() + timedelta(seconds=30), due_at=None
    )
    scripted_ledger.pages.clear()
    assert not is_due(account)
    ledger.sync_account(account.pk)
    assert scripted_ledger.pages == []


def test_the_lease_of_a_dead_worker_is_taken_over(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    LedgerMirror.objects.update(lease_expires_at=timezone.now() - timedelta(seconds=1), due_at=None)
    scripted_ledger.add_row(ledger_row(-5))
    assert is_due(account)
    ledger.sync_account(account.pk)
    assert LedgerEntry.objects.count() == 2


def test_an_account_that_no_token_opens_is_left(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    account.tokens.update(state=TokenState.REVOKED)
    assert not is_due(account)
    ledger.sync_account(account.pk)
    assert scripted_ledger.pages == []


def test_a_token_that_does_not_open_leaves_the_ledger_to_another_members(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    Token.objects.update(ciphertext=b"not ours")
    TokenFactory(account=account)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    row = LedgerMirror.objects.get()
    assert (row.high, row.anchor_high, row.troubles) == (1, 1, 0)


def test_pitfall_66_several_tokens_read_one_ledger_once(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    TokenFactory(account=account)
    scripted_ledger.add_row(ledger_row(-4))
    assert ledger.accounts_due_for_sync(timezone.now()) == [account.pk]
    ledger.sync_account(account.pk)
    assert LedgerEntry.objects.count() == 1


def test_the_beat_enqueues_ledgers_that_are_due(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(tasks.sync_ledger_task, "delay", rung.append)
    tasks.sync_due_ledgers()
    tasks.sync_ledger_task(rung[0])
    tasks.sync_due_ledgers()
    assert rung == [str(account.pk)]
    scripted_ledger.pages.clear()
    tasks.sync_ledger_task(rung[0])  # one that piled up while no worker took it
    assert scripted_ledger.pages == []


def test_open_pages_hear_of_rows_that_came_and_of_nothing_else(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.sync_account(account.pk)
    heard: list[EventType] = []
    for module in (entry_changes, daily_totals):
        monkeypatch.setattr(module, "publish_event", lambda tenant, event, id: heard.append(event))
    ledger.sync_account(account.pk)
    assert heard == []
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    assert heard == [EventType.LEDGER]


def test_rows_are_read_though_the_balance_cannot_be(
    account: Account, scripted_ledger: ScriptedLedger, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/me", httpx.ReadError)
    scripted_ledger.add_row(ledger_row(-4))
    ledger.sync_account(account.pk)
    assert LedgerEntry.objects.count() == 1
    assert LedgerMirror.objects.get().balance_exact is None


@pytest.mark.parametrize(
    ("amount", "minutes", "is_asked"), [(200, -5, 1), (200, 5, 0), (-4, -5, 0)]
)
def test_credits_that_came_have_the_balance_read_again(
    amount: int, minutes: int, is_asked: bool, account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """Until then nobody could spend them: for ten minutes, else."""
    ledger.sync_account(account.pk)
    scripted_ledger.add_row(ledger_row(amount, 60))
    now = LEDGER_START + timedelta(minutes=60)
    Account.objects.update(
        refreshed_at=timezone.now(), balance_as_of=now + timedelta(minutes=minutes)
    )
    ledger.mirror_entries(account)
    assert (Account.objects.get().refreshed_at is None) is bool(is_asked)
