"""Rows of a clock that was put back by an hour. What they put off is due within minutes, and
what is read now counts as newer than what was read then."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import ledger, tasks, tokens, top_up
from proxyapi.charges import dispatch_charge
from proxyapi.ledger import reconciliation
from proxyapi.models import (
    Account,
    AccountPlan,
    AutoTopUp,
    Charge,
    ChargeState,
    Job,
    LedgerMirror,
    Token,
    TopUpChange,
    TopUpChangeState,
)
from proxyapi.polling import due_work
from proxyapi.top_up import PreferenceReading, TopUpSetting, preference_sync
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
SOON = timedelta(seconds=50)


def ahead() -> datetime:
    return timezone.now() + HOUR


@pytest.fixture
def account(token: Token) -> Account:
    return token.account


def settled(token: Token, at: datetime) -> Charge:
    """A charge that took 4 cr, of which no row of the ledger is known."""
    job = JobFactory.create(token=token, account=token.account)
    state, cost = ChargeState.CONFIRMED, Decimal(4)
    return ChargeFactory.create(job=job, state=state, cost=cost, sent_at=at, settled_at=at)


def changing(token: Token, state: TopUpChangeState, **times: datetime) -> TopUpChange:
    return TopUpChange.objects.create(
        account=token.account,
        token=token,
        member=token.owner,
        nonce=uuid.uuid4(),
        seen=TopUpSetting(False).to_dict(),
        wanted=TopUpSetting(True, "dynamic-credits", None, 20).to_dict(),
        state=state,
        **times,
    )


def test_a_ledger_is_due_again(account: Account) -> None:
    LedgerMirror.objects.create(
        account=account, read_at=ahead(), due_at=ahead(), lease_expires_at=ahead()
    )
    assert ledger.accounts_due_for_sync(timezone.now()) == []
    due_work.reschedule_after_clock_rollback()
    assert ledger.accounts_due_for_sync(timezone.now()) == [account.pk]


def test_a_charge_of_now_is_not_missed_in_a_ledger_that_was_read_then(
    account: Account, token: Token
) -> None:
    row = LedgerMirror.objects.create(
        account=account, read_at=ahead(), due_at=timezone.now() + SOON
    )
    settled(token, timezone.now())
    assert reconciliation.charges_missing_debit(row).exists()
    due_work.reschedule_after_clock_rollback()
    row.refresh_from_db()
    assert not reconciliation.charges_missing_debit(row).exists()
    assert ledger.accounts_due_for_sync(timezone.now()) == [account.pk]


def test_charges_of_then_do_not_have_the_ledger_read_all_the_time(
    account: Account, token: Token
) -> None:
    LedgerMirror.objects.create(account=account, read_at=ahead(), due_at=timezone.now() + SOON)
    settled(token, ahead())
    due_work.reschedule_after_clock_rollback()
    assert ledger.accounts_due_for_sync(timezone.now()) == []


def test_a_balance_of_now_is_taken_and_what_is_spent_is_taken_off(
    account: Account, token: Token
) -> None:
    Account.objects.update(balance=1000, balance_as_of=ahead())
    due_work.reschedule_after_clock_rollback()
    account.deduct_charge(settled(token, timezone.now()))
    account.refresh_from_db()
    assert account.balance == 996
    account.update_balance(Decimal(500), timezone.now())
    assert account.balance == 500


def test_a_lapsed_account_is_refreshed_so_that_its_token_resumes(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(tasks.refresh_account_task, "delay", rung.append)
    Account.objects.update(plan=AccountPlan.NONE, refreshed_at=ahead())
    tasks.refresh_due_accounts()
    later = timezone.now() + 2 * MINUTE
    monkeypatch.setattr(timezone, "now", lambda: later)
    tasks.refresh_due_accounts()
    assert rung == [str(account.pk)]
    assert tokens.claim_refresh(account)


def test_a_top_up_is_read_and_what_it_says_is_taken(account: Account) -> None:
    preference_sync.store_preference(
        account, PreferenceReading(TopUpSetting(True), None, 0), ahead()
    )
    AutoTopUp.objects.update(due_at=ahead())
    assert top_up.accounts_due_for_preference_read(timezone.now()) == []
    due_work.reschedule_after_clock_rollback()
    assert top_up.accounts_due_for_preference_read(timezone.now()) == [account.pk]
    assert not preference_sync.store_preference(
        account, PreferenceReading(TopUpSetting(False), None, 0), timezone.now()
    ).enabled


@pytest.mark.parametrize(
    ("state", "minutes"),
    [(TopUpChangeState.ASKED, 0), (TopUpChangeState.UNKNOWN, 0), (TopUpChangeState.SENDING, 3)],
)
def test_a_change_of_a_top_up_goes_on_and_is_not_sent_beside_its_worker(
    token: Token, state: TopUpChangeState, minutes: int
) -> None:
    change = changing(token, state, requested_at=ahead(), sent_at=ahead(), due_at=ahead())
    due_work.reschedule_after_clock_rollback()
    change.refresh_from_db()
    now = timezone.now()
    assert change.sent_at is not None
    assert max(change.requested_at, change.sent_at) <= now
    assert (minutes - 1) * MINUTE < change.due_at - now <= minutes * MINUTE


def test_a_price_is_asked(token: Token) -> None:
    job = JobFactory.create(token=token, account=token.account, draft__quote_due_at=ahead())
    assert list(due_work.lease_due_quotes()) == []
    due_work.reschedule_after_clock_rollback()
    assert list(due_work.lease_due_quotes()) == [job.pk]


def test_a_charge_that_cannot_be_sent_is_given_up_within_its_time(
    token: Token, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.respond("POST", "/faceless", httpx.ConnectError)
    job = JobFactory.create(token=token, account=token.account)
    charge = ChargeFactory.create(job=job, held_at=ahead())
    due_work.reschedule_after_clock_rollback()
    later = timezone.now() + 16 * MINUTE
    monkeypatch.setattr(timezone, "now", lambda: later)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.reason.startswith("Not sent within 15 minutes")


def test_without_a_clock_rollback_nothing_is_repaired(account: Account, token: Token) -> None:
    """Each as far ahead as it gets; the clocks of two machines differ by some seconds."""
    now = timezone.now()
    seen, long = now + timedelta(seconds=5), now + timedelta(minutes=15)
    Account.objects.update(refreshed_at=seen, balance_as_of=seen)
    LedgerMirror.objects.create(
        account=account, read_at=seen, due_at=long, lease_expires_at=now + 2 * MINUTE
    )
    AutoTopUp.objects.create(
        account=account, read_at=seen, due_at=now + preference_sync.PREFERENCE_READ_INTERVAL
    )
    changing(token, TopUpChangeState.SENDING, sent_at=seen, due_at=now + 2.5 * MINUTE)
    job = JobFactory.create(
        token=token, account=account, draft__quote_due_at=now + due_work.LEASE_DURATION
    )
    ChargeFactory.create(job=job, held_at=seen, heartbeat_at=seen, due_at=long)
    before = kept()
    due_work.reschedule_after_clock_rollback()
    assert kept() == before


def kept() -> list[Any]:
    models = (Account, Charge, Job, LedgerMirror, AutoTopUp, TopUpChange)
    return [list(model.objects.order_by("pk").values()) for model in models]
