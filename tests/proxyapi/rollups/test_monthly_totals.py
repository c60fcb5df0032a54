"""The sums of a month are those of its days, and so of its entries, whatever was there before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, given, settings, strategies

from proxyapi.ledger.audit import SUM_TABLES
from proxyapi.models import Account, LedgerEntry, LedgerMirror, MonthlyTotalByOperation
from proxyapi.models.ledger_sums import MONTHLY_GROUP_COLUMNS
from proxyapi.rollups.daily_totals import days_in_account_zone, rebuild_all_days, rebuild_days
from tests.examples import examples
from tests.factories import AccountFactory, EntryFactory

pytestmark = pytest.mark.postgresql

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)
REPEATED = settings(
    max_examples=examples(6, 25),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
ROWS = strategies.fixed_dictionaries(
    {
        "at": strategies.integers(-40 * 24, 40 * 24),  # hours around the new year
        "amount": strategies.sampled_from(["-4", "-0.0001", "-96", "100", "12.5"]),
        "operation": strategies.sampled_from(["", "faceless.render", "faceless.export"]),
    }
)


@pytest.fixture
def account(db: None) -> Account:
    account = AccountFactory.create()
    LedgerMirror.objects.create(account=account)
    return account


def booked(account: Account, at: datetime, amount: str = "-4", operation: str = "") -> LedgerEntry:
    return EntryFactory.create(
        account=account, happened_at=at, credit_spend=amount, operation=operation
    )


def counted(account: Account, *moments: datetime) -> None:
    with transaction.atomic():
        rebuild_days(account, days_in_account_zone(account, moments))


def kept(account: Account) -> list[tuple[object, ...]]:
    rows = MonthlyTotalByOperation.objects.filter(account=account)
    return sorted(rows.values_list("month", *MONTHLY_GROUP_COLUMNS, "amount", "entries"))


def expected(account: Account) -> list[tuple[object, ...]]:
    """One entry after the other, by hand."""
    found: Mapping[Any, list[Any]] = defaultdict(lambda: [Decimal(0), 0])
    for one in LedgerEntry.objects.filter(account=account):
        month = one.happened_at.astimezone(account.tenant.zone).date().replace(day=1)
        sums = found[month, one.operation, one.amount > 0, one.charge_id is not None]
        sums[0] += one.amount
        sums[1] += 1
    return sorted((*key, *sums) for key, sums in found.items())


@REPEATED
@given(rows=strategies.lists(ROWS, max_size=12), rewritten=strategies.lists(ROWS, max_size=4))
def test_months_are_what_their_entries_add_up_to(
    account: Account, rows: list[dict[str, Any]], rewritten: list[dict[str, Any]]
) -> None:
    """Entries come, and some of them read differently later, on another day as well."""
    LedgerEntry.objects.all().delete()
    for table in SUM_TABLES:
        table._default_manager.all().delete()
    moments = [NEW_YEAR + timedelta(hours=row["at"]) for row in rows]
    entries = [
        booked(account, at, row["amount"], row["operation"])
        for at, row in zip(moments, rows, strict=True)
    ]
    counted(account, *moments)
    assert kept(account) == expected(account)
    for entry, row in zip(entries, rewritten, strict=False):
        before, entry.happened_at = entry.happened_at, NEW_YEAR + timedelta(hours=row["at"])
        entry.amount, entry.operation = Decimal(row["amount"]), row["operation"]
        entry.save()
        counted(account, before, entry.happened_at)
    assert kept(account) == expected(account)


def test_a_month_without_entries_keeps_no_sum(account: Account) -> None:
    booked(account, NEW_YEAR)
    counted(account, NEW_YEAR)
    LedgerEntry.objects.all().delete()
    counted(account, NEW_YEAR)
    assert kept(account) == []


def test_months_move_with_the_zone_of_the_team(account: Account) -> None:
    """pitfall_68: the last hours of a year are the next one in Auckland."""
    late = NEW_YEAR - timedelta(hours=2)
    booked(account, late)
    counted(account, late)
    assert [row[0] for row in kept(account)] == [date(2026, 12, 1)]
    account.tenant.time_zone = "Pacific/Auckland"
    account.tenant.save()
    rebuild_all_days(account)
    assert kept(account) == expected(account)
    assert [row[0] for row in kept(account)] == [date(2027, 1, 1)]


def test_a_month_is_added_up_once(account: Account) -> None:
    """Two counts at once would tell of twice the credits; the database refuses the second."""
    booked(account, NEW_YEAR)
    counted(account, NEW_YEAR)
    row = MonthlyTotalByOperation.objects.get()
    row.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        row.save(force_insert=True)
