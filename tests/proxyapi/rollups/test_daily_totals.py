"""The sums of a day are those of its entries, whatever was there before."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.db.models import Sum

from proxyapi.models import (
    Account,
    DailyBreakdown,
    DailyRollup,
    DailyTotal,
    DailyTotalByContentType,
    DailyTotalByLabel,
    DailyTotalByMember,
    DailyTotalByOperation,
    LedgerEntry,
)
from proxyapi.models.ledger_sums import COMMON_COLUMNS
from proxyapi.rollups.daily_totals import (
    DAILY_TABLES,
    CreditSum,
    day_bounds,
    days_in_account_zone,
    narrowest_table,
    rebuild_days,
)
from proxyapi.rollups.ledger_names import load_ledger_names
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql

DAY = date(2026, 11, 18)
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def account(db: None) -> Account:
    return AccountFactory()


def entry(account: Account, spend: str, at: datetime = NOON, **fields) -> LedgerEntry:
    position = LedgerEntry.objects.filter(account=account).count()
    fields = {"label": "faceless", "content_type": "faceless", **fields}
    return LedgerEntry.objects.create(
        account=account, position=position, credit_spend=spend, amount=Decimal(spend),
        happened_at=at, booked_at=at.isoformat(), **fields,
    )  # fmt: skip


def recounted(account: Account, *days: date) -> list[DailyBreakdown]:
    with transaction.atomic():
        rebuild_days(account, days or (DAY,))
    return list(DailyBreakdown.objects.filter(account=account).order_by("day", "amount"))


def test_equal_debits_count_as_often_as_they_are_there(account):
    """pitfall_62: two real debits look the same."""
    entry(account, "-96")
    entry(account, "-96")
    (row,) = recounted(account)
    assert (row.amount, row.entries) == (Decimal(-192), 2)


def test_a_day_is_split_by_whose_which_and_whence(account):
    """pitfall_65: what came through the API and what did not stay apart."""
    job = JobFactory(account=account, token=TokenFactory(account=account))
    charge = ChargeFactory(job=job)
    own = {"charge": charge, "confidence": "certain", "member": charge.member, "job": job}
    entry(account, "-96", operation="faceless.render", via_api=True, **own)
    entry(account, "-96", via_api=False)
    entry(account, "-14", via_api=True)
    entry(account, "2000", content_type="top-up")
    rows = recounted(account)
    assert {(row.amount, row.is_matched, row.via_api, row.is_credit) for row in rows} == {
        (Decimal(-96), True, True, False),
        (Decimal(-96), False, False, False),
        (Decimal(-14), False, True, False),
        (Decimal(2000), False, None, True),
    }
    assert sum(row.entries for row in rows) == len(rows) == 4


def test_the_totals_of_a_day_leave_out_who(account):
    for _ in range(3):
        job = JobFactory(account=account, token=TokenFactory(account=account))
        charge = ChargeFactory(job=job)
        own = {"charge": charge, "confidence": "certain", "member": charge.member, "job": job}
        entry(account, "-96", operation="faceless.render", via_api=True, **own)
    assert len(recounted(account)) == 3
    (total,) = DailyTotalByLabel.objects.filter(account=account)
    assert (total.amount, total.entries) == (Decimal(-288), 3)


@pytest.fixture
def mixed(account) -> Account:
    """Three people's renders and exports, one of them given back, and what nobody here spent."""
    for number in range(3):
        job = JobFactory(account=account, token=TokenFactory(account=account))
        charge = ChargeFactory(job=job)
        own = {"charge": charge, "confidence": "certain", "member": charge.member, "job": job}
        operation = ("faceless.render", "faceless.export")[number % 2]
        entry(account, f"-{10 + number}.5", operation=operation, via_api=True, **own)
        if number == 2:
            entry(account, "12.5", content_type="refund", operation=operation, via_api=True, **own)
    entry(account, "-7", content_type="elsewhere", via_api=False, at=NOON + timedelta(days=1))
    entry(account, "2000", content_type="top-up")
    return account


def contents(table: type[DailyRollup], account: Account) -> list[tuple[object, ...]]:
    names = (*COMMON_COLUMNS, *table.GROUP_COLUMNS, "amount", "entries")
    return sorted(table._default_manager.filter(account=account).values_list(*names), key=str)


@pytest.mark.parametrize("table", DAILY_TABLES)
def test_every_table_adds_the_same_entries_up(mixed, table):
    recounted(mixed, DAY, DAY + timedelta(days=1))
    sums = table._default_manager.values("day").annotate(sum=Sum("amount"), rows=Sum("entries"))
    assert {(row["day"], row["sum"], row["rows"]) for row in sums} == {
        (DAY, Decimal("1978.0"), 5),
        (DAY + timedelta(days=1), Decimal(-7), 1),
    }
    splits = table._default_manager.values_list(*COMMON_COLUMNS, *table.GROUP_COLUMNS)
    assert len(set(splits)) == len(splits)


@pytest.mark.parametrize(
    ("columns", "table"),
    [
        ((), DailyTotal),
        (("via_api", "day", "is_matched"), DailyTotal),
        (("operation",), DailyTotalByOperation),
        (("member",), DailyTotalByMember),
        (("content_type", "operation"), DailyTotalByContentType),
        (("content_type", "label"), DailyBreakdown),
        (("label",), DailyTotalByLabel),
        (("label", "operation"), DailyTotalByLabel),
        (("member", "operation"), DailyBreakdown),
    ],
)
def test_the_smallest_table_that_knows_the_columns_answers(columns, table):
    assert narrowest_table(columns) is table


def test_names_are_those_of_the_days_and_accounts_asked_for(mixed):
    """As many steps along the index as there are names; what other days have is not among them."""
    recounted(mixed, DAY, DAY + timedelta(days=1))
    other = AccountFactory.create()
    entry(other, "-1", content_type="of others")
    recounted(other)
    found = load_ledger_names([mixed.pk], DAY, DAY)
    assert found.operations == {"faceless.render", "faceless.export"}
    assert found.content_types == {"faceless", "refund", "top-up"}
    both_days = load_ledger_names([mixed.pk], DAY, DAY + timedelta(days=1))
    assert both_days.content_types == found.content_types | {"elsewhere"}
    of_both = load_ledger_names([mixed.pk, other.pk], DAY, DAY)
    assert of_both.content_types == found.content_types | {"of others"}
    assert load_ledger_names([], DAY, DAY).content_types == frozenset()


def test_counting_again_replaces_and_leaves_other_days(account):
    entry(account, "-96")
    entry(account, "-7", at=NOON - timedelta(days=1))
    recounted(account, DAY, DAY - timedelta(days=1))
    LedgerEntry.objects.filter(amount=-96).update(amount=-90)
    rows = recounted(account, DAY)
    assert [row.amount for row in rows] == [Decimal(-7), Decimal(-90)]


def test_a_day_without_entries_keeps_no_sum(account):
    entry(account, "-96")
    recounted(account)
    LedgerEntry.objects.all().delete()
    assert recounted(account) == []


@pytest.mark.parametrize(
    ("day", "hours"), [(date(2026, 3, 29), 23), (date(2026, 10, 25), 25), (date(2026, 11, 18), 24)]
)
def test_a_day_is_as_long_as_the_clocks_make_it(account, day, hours):
    """pitfall_68: the days are those of the team's zone, across the change of the clocks."""
    account.tenant.time_zone = "Europe/Stockholm"
    account.tenant.save()
    first, next_ = (moment.astimezone(UTC) for moment in day_bounds(day, account.tenant.zone))
    assert next_ - first == timedelta(hours=hours)
    for at in (first - timedelta(seconds=1), first, next_ - timedelta(seconds=1), next_):
        entry(account, "-1", at=at)
    (row,) = recounted(account, day)
    assert row.entries == 2
    assert days_in_account_zone(account, [first, next_]) == {day, day + timedelta(days=1)}


def test_fractions_add_up_exactly(account):
    """pitfall_60: signed strings, to four places, on SQLite as on PostgreSQL."""
    for _ in range(60):
        entry(account, "-0.0001")
    entry(account, "-9999999.9999")
    (row,) = recounted(account)
    assert row.amount == Decimal("-10000000.0059")
    assert LedgerEntry.objects.aggregate(sum=CreditSum("amount"))["sum"] == row.amount
    assert DailyBreakdown.objects.aggregate(sum=Sum("entries"))["sum"] == 61
