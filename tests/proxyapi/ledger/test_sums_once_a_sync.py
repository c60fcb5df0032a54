"""The sums of the days that a sync touched are recomputed once, at its end, and are never lost."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import pytest
from django.utils import timezone

from proxyapi import ledger, tasks
from proxyapi.ledger import entry_changes, mirror
from proxyapi.models import Account, DailyTotal, LedgerMirror, StaleLedgerDay
from proxyapi.rollups import daily_totals
from tests.proxyapi.ledger.conftest import MakeConfirmedCharge, ScriptedLedger, ledger_row

pytestmark = pytest.mark.postgresql

DAY = date(2026, 11, 2)


@pytest.fixture
def recomputed(monkeypatch: pytest.MonkeyPatch) -> list[date]:
    """Each recomputation of a day."""
    days, aggregate = list[date](), daily_totals.aggregate_day

    def count(account: Account, day: date, *rest: Any) -> Iterator[Any]:
        days.append(day)
        return aggregate(account, day, *rest)

    monkeypatch.setattr(daily_totals, "aggregate_day", count)
    return days


def stored_sum() -> Decimal:
    return sum((row.amount for row in DailyTotal.objects.all()), Decimal(0))


def test_a_day_is_recomputed_once_a_sync(
    account: Account,
    scripted_ledger: ScriptedLedger,
    make_confirmed_charge: MakeConfirmedCharge,
    recomputed: list[date],
) -> None:
    """Its row comes, is attributed to the API and matched to a charge: three changes."""
    scripted_ledger.add_row(ledger_row(-7, 0))
    ledger.sync_account(account.pk)
    make_confirmed_charge(4, 1)
    scripted_ledger.add_row(ledger_row(-4, 1))
    recomputed.clear()
    ledger.sync_account(account.pk)
    assert recomputed == [DAY]
    assert {row.is_matched: row.amount for row in DailyTotal.objects.all()} == {True: -4, False: -7}


def test_a_reading_that_fails_recomputes_what_it_changed(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """The page came, then the connection broke at the view of the API."""
    scripted_ledger.add_row(ledger_row(-7, 0))
    scripted_ledger.cut_after = 1
    ledger.sync_account(account.pk)
    assert stored_sum() == -7
    assert not StaleLedgerDay.objects.exists()


def test_what_a_dead_worker_left_is_swept(
    account: Account, scripted_ledger: ScriptedLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted_ledger.add_row(ledger_row(-7, 0))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(entry_changes, "rebuild_stale_days", Mock(side_effect=KeyboardInterrupt))
        mirror.mirror_entries(account)
    assert (stored_sum(), StaleLedgerDay.objects.get().day) == (0, DAY)
    mine = LedgerMirror.objects.filter(pk=account.pk)
    mine.update(lease_expires_at=timezone.now() + timedelta(minutes=1))
    assert daily_totals.accounts_with_stale_days() == []
    mine.update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert daily_totals.accounts_with_stale_days() == [account.pk]
    tasks.recount_days_task(str(account.pk))
    assert stored_sum() == -7
    assert daily_totals.accounts_with_stale_days() == []
