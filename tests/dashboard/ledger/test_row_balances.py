"""The balance after each entry: the same from every page, as the checkpoint says, or not shown."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.rows import LEDGER_PAGE_SIZE
from dashboard.models import Membership
from proxyapi.models import Account, LedgerMirror
from tests.dashboard.ledger.conftest import days_ago, mark_fully_read, sum_up
from tests.factories import AccountFactory, EntryFactory

pytestmark = pytest.mark.postgresql

MOST_QUERIES = 15


def page(reader: Membership, **query: object) -> dict[str, Any]:
    return load_ledger_page(
        reader, parse_ledger_filters({name: str(value) for name, value in query.items()})
    )


def shown_balances(shown: dict[str, Any]) -> list[Decimal | None]:
    return [row["balance"] for day in shown["entries"]["page"].days for row in day.rows]


def take_checkpoint(account: Account, balance: int, high: int) -> None:
    """It had that balance when its ledger ended there; it has gone on since, perhaps."""
    count = account.entries.count()
    known = {"balance_exact": balance, "checkpoint_high": high, "high": count, "total": count}
    LedgerMirror.objects.filter(pk=account.pk).update(**known)


@pytest.fixture
def add_year_of_entries(account: Account) -> Callable[[int], list[Decimal]]:
    """Add rows of a year, some in the same second; return the balance after each."""

    def make(count: int) -> list[Decimal]:
        balance, after = Decimal(5000), []
        for number in range(count):
            spend = Decimal("1000.25") if number % 9 == 4 else Decimal(-number) - Decimal("0.5")
            at = (
                days_ago(days=360)
                + (timezone.now() - days_ago(days=360)) * (number // 2 * 2) / count
            )
            EntryFactory.create(account=account, credit_spend=f"{spend}", happened_at=at)
            balance += spend
            after.append(balance)
        sum_up(account)
        return after

    return make


@pytest.mark.parametrize("weighed", [0, 1, 40, 100, 130])
def test_every_page_shows_the_balance_after_each_entry(weighed, add_year_of_entries, account, thea):
    after = add_year_of_entries(130)
    take_checkpoint(account, 10**6, 0)
    start = Decimal(5000) if weighed == 0 else after[weighed - 1]
    LedgerMirror.objects.filter(pk=account.pk).update(balance_exact=start, checkpoint_high=weighed)
    for sort, expected in (("", after[::-1]), ("oldest", after)):
        listed, query = [], {"period": "all", "sort": sort}
        while True:
            shown = page(thea, **query)
            listed += shown_balances(shown)
            if not shown["entries"]["page"].next_url:
                break
            query["after"] = shown["entries"]["page"].next_url.partition("after=")[2]
        assert listed == expected


def test_a_month_long_ago_has_its_balances_too(add_year_of_entries, account, thea):
    after = add_year_of_entries(90)
    take_checkpoint(account, 0, 90)
    LedgerMirror.objects.update(balance_exact=after[-1])
    shown = page(thea, period="2026-05")
    entries = list(account.entries.filter(happened_at__month=5).order_by("-position"))
    assert shown_balances(shown) == [after[entry.position] for entry in entries] != []


def test_the_days_are_those_of_the_teams_zone(account, add_entry, thea):
    """pitfall_68: half past eleven in UTC is tomorrow in Auckland."""
    for minutes in (90, 30, 5):
        add_entry("-10", by=None, happened_at=days_ago(minutes=minutes))
    take_checkpoint(account, 500, 3)
    assert shown_balances(page(thea)) == [500, 510, 520]
    thea.team.tenant.time_zone = "Pacific/Auckland"
    thea.team.tenant.save()
    assert set(shown_balances(page(thea))) == {
        None
    }  # the sums are of other days until they are made anew
    sum_up(Account.objects.get(pk=account.pk))
    LedgerMirror.objects.update(rollup_time_zone="Pacific/Auckland")
    assert shown_balances(page(thea, period="2026-11-20")) == [520]
    assert shown_balances(page(thea)) == [500, 510, 520]


@pytest.mark.parametrize(
    "query", ["direction=out", "q=glacier", "feature=faceless.render", "match=yes", "member=1"]
)
def test_between_rows_that_are_left_out_there_is_no_balance(
    query, add_entry, account, client_of, thea
):
    add_entry()
    take_checkpoint(account, 500, 1)
    browser = client_of(thea)
    assert ">Balance</th>" in browser.get("/ledger/").content.decode()
    assert ">Balance</th>" not in browser.get(f"/ledger/?{query}").content.decode()


def test_two_accounts_have_no_common_balance(add_entry, account, thea):
    add_entry()
    take_checkpoint(account, 500, 1)
    other = mark_fully_read(AccountFactory.create(tenant=thea.team.tenant))
    EntryFactory.create(account=other, credit_spend="-5", happened_at=days_ago(hours=2))
    sum_up(other)
    assert shown_balances(page(thea)) == [None, None]
    assert shown_balances(page(thea, account=account.pk)) == [500]
    assert shown_balances(page(thea, account=other.pk)) == [None]  # it was not weighed yet


def test_without_a_balance_checkpoint_there_is_no_column(add_entry, thea):
    add_entry()
    assert not page(thea)["entries"]["page"].has_balances


def test_it_costs_one_query_at_most(add_year_of_entries, account, client_of, thea):
    add_year_of_entries(LEDGER_PAGE_SIZE + 20)
    take_checkpoint(account, 5000, 3)
    full = page(thea, period="all")["entries"]["page"].next_url
    for path in ("/ledger/", "/ledger/?period=2026-05", "/ledger/?period=all&sort=oldest", full):
        browser = client_of(thea)
        with CaptureQueriesContext(connection) as asked:
            html = browser.get(path).content.decode()
        assert ">Balance</th>" in html, path
        assert len(asked) <= MOST_QUERIES, path
