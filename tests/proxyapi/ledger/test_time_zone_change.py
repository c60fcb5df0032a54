"""The team's zone changes while its ledgers are read: sums are of the days as they are now."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.test.utils import CaptureQueriesContext

from proxyapi import ledger
from proxyapi.ledger import entry_changes
from proxyapi.ledger.mirror_range import get_or_create_ledger
from proxyapi.models import Account, DailyTotal, LedgerMirror, Tenant
from proxyapi.rollups import daily_totals
from proxyapi.rollups.daily_totals import rebuild_all_days, rebuild_days
from tests.deadlocks import run_beside
from tests.factories import EntryFactory
from tests.proxyapi.ledger.conftest import ScriptedLedger, ledger_row

pytestmark = pytest.mark.postgresql

AUCKLAND = "Pacific/Auckland"  # 13 h before UTC in November
EVENING = 210  # minutes after the ledger's start: half past twelve, the 3rd in Auckland
FIRST, SECOND, THIRD = (date(2026, 11, day) for day in (1, 2, 3))
# The 3rd on Kiritimati, 14 h before UTC; the 1st in Pago Pago, 11 h after it.
BETWEEN = datetime(2026, 11, 2, 10, 30, tzinfo=UTC)
KIRITIMATI, PAGO_PAGO = "Pacific/Kiritimati", "Pacific/Pago_Pago"


def move(account: Account, zone: str) -> None:
    """The owner chooses it, and a worker recounts all days; `account` still has the old one."""
    Tenant.objects.filter(pk=account.tenant_id).update(time_zone=zone)
    rebuild_all_days(Account.objects.get(pk=account.pk))


def kept(account: Account) -> dict[date, Decimal]:
    days = DailyTotal.objects.filter(account=account).order_by("day").values_list("day")
    return dict(days.annotate(sum=Sum("amount")))


def test_a_page_aligned_after_the_zone_moved_is_counted_in_the_new_days(
    account: Account, scripted_ledger: ScriptedLedger
) -> None:
    """pitfall_68: its turn began with the old zone, and the recount was over before it."""
    scripted_ledger.add_row(ledger_row("-4", EVENING))
    ledger.mirror_entries(account)
    assert kept(account) == {SECOND: -4}

    def move_once() -> None:
        scripted_ledger.before_page = lambda: None
        move(account, AUCKLAND)

    scripted_ledger.add_row(ledger_row("-7", EVENING + 1))
    scripted_ledger.before_page = move_once
    ledger.mirror_entries(account)
    assert account.tenant.time_zone == "UTC"
    assert kept(account) == {THIRD: -11}


def test_a_row_may_move_by_two_days(account: Account) -> None:
    EntryFactory(account=account, happened_at=BETWEEN)
    move(account, KIRITIMATI)
    assert kept(account) == {THIRD: -96}
    move(account, PAGO_PAGO)
    assert kept(account) == {FIRST: -96}


def test_the_old_day_of_a_row_that_is_gone_goes_as_well(account: Account) -> None:
    """It was let go after the zone moved, before its sums did."""
    entry = EntryFactory(account=account, happened_at=BETWEEN)
    move(account, KIRITIMATI)
    Tenant.objects.update(time_zone="UTC")
    entry.delete()
    with transaction.atomic():
        entry_changes.record_entry_changes(account, [BETWEEN])
    rebuild_all_days(account)
    assert kept(account) == {}


def test_a_zone_that_came_back_amid_an_interrupted_count_is_counted_again(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A week is of the zone that was left, although that of the ledger is the tenant's again."""
    EntryFactory(account=account, happened_at=BETWEEN)
    EntryFactory(account=account, happened_at=BETWEEN + timedelta(days=30))
    get_or_create_ledger(account)
    move(account, "UTC")
    before, weeks = kept(account), iter([rebuild_days])
    with monkeypatch.context() as patch, pytest.raises(StopIteration):
        patch.setattr(daily_totals, "rebuild_days", lambda *given: next(weeks)(*given))
        move(account, KIRITIMATI)
    Tenant.objects.update(time_zone="UTC")
    assert kept(account) != before
    assert daily_totals.accounts_with_stale_zone() == [account.pk]
    rebuild_all_days(Account.objects.get(pk=account.pk))
    assert kept(account) == before
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_recount_requested_during_a_count_is_counted_again(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be of a week that was done by then."""
    EntryFactory(account=account, happened_at=BETWEEN)
    get_or_create_ledger(account)

    def want(*given: Any) -> None:
        rebuild_days(*given)
        daily_totals.request_rebuild(account)

    with monkeypatch.context() as patch:
        patch.setattr(daily_totals, "rebuild_days", want)
        rebuild_all_days(account)
    assert daily_totals.accounts_with_stale_zone() == [account.pk]
    rebuild_all_days(account)
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_new_ledger_has_no_days_of_another_zone(account: Account) -> None:
    Tenant.objects.update(time_zone=AUCKLAND)
    get_or_create_ledger(Account.objects.get(pk=account.pk))
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_count_locks_the_account_first(account: Account) -> None:
    """As whoever lays a page does, and only then anything of its ledger."""
    with transaction.atomic(), CaptureQueriesContext(connection) as asked:
        rebuild_days(account, [SECOND])
    first = asked[0]["sql"]
    assert 'FROM "proxyapi_account"' in first
    assert connection.vendor == "sqlite" or 'FOR UPDATE OF "proxyapi_account"' in first


@pytest.mark.django_db(transaction=True)
def test_recounting_and_applying_a_page_at_once_do_not_deadlock(account: Account) -> None:
    EntryFactory(account=account, happened_at=BETWEEN)
    mirror = LedgerMirror.objects.create(account=account)
    run_beside(
        account, lambda: rebuild_all_days(account), lambda: mirror.save(update_fields=["high"])
    )
    assert kept(account) == {SECOND: -96}
