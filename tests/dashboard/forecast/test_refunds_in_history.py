"""What a failed clip took and gave back is no spending, and no credit that came."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.forecast import load_daily_history
from proxyapi.forecast import DailyCredits
from proxyapi.models import Account, LedgerEntry
from tests.dashboard.top_up.conftest import ClientOf, visible_text_of
from tests.factories import ChargeFactory

Spend = Callable[..., LedgerEntry]


@pytest.fixture
def add_refund(account: Account, add_spend: Spend) -> Spend:
    """A credit that was matched to the charge it is the refund of."""

    def enter(amount: str, days: float = 1) -> LedgerEntry:
        charge = ChargeFactory.create(job__account=account)
        return add_spend(amount, days, label="Refund", charge=charge, confidence="certain")

    return enter


def day_of(account: Account, days: int = 1) -> DailyCredits:
    today = timezone.now().astimezone(account.tenant.zone).date()
    ledger = load_daily_history(account, today, 56)
    day = ledger.days[today - timedelta(days=days)]
    assert (
        ledger.net_by_day[today - timedelta(days=days)]
        == day.into - day.api_spend - day.outside_spend
    )
    return day


def test_what_was_given_back_on_its_day_was_not_spent(
    account: Account, add_spend: Spend, add_refund: Spend
) -> None:
    add_spend("-200")
    add_spend("-100")
    add_refund("200")
    assert day_of(account) == DailyCredits(api_spend=100, charge_size=50)


def test_more_than_its_day_spent_came_in(
    account: Account, add_spend: Spend, add_refund: Spend
) -> None:
    """It is of an earlier day's."""
    add_spend("-50")
    add_refund("200")
    assert day_of(account) == DailyCredits(into=150)


def test_on_a_day_without_a_spend_all_of_it_came_in(account: Account, add_refund: Spend) -> None:
    add_refund("200")
    assert day_of(account) == DailyCredits(into=200)


def test_it_is_not_taken_off_what_was_spent_outside(
    account: Account, add_spend: Spend, add_refund: Spend
) -> None:
    add_spend("-300", via_api=False)
    add_refund("200")
    assert day_of(account) == DailyCredits(outside_spend=300, into=200)


def test_what_was_bought_still_comes_in(account: Account, add_spend: Spend) -> None:
    add_spend("-50")
    add_spend("2000", label="Automatic top-up")
    assert day_of(account) == DailyCredits(api_spend=50, charge_size=50, into=2000)


def test_films_that_failed_each_day_bring_the_end_no_nearer(
    vera: Membership, account: Account, client_of: ClientOf, add_spend: Spend, add_refund: Spend
) -> None:
    for day in range(1, 15):
        add_spend("-400", days=day)
        add_spend("-200", days=day)
        add_refund("200", days=day)
    page = visible_text_of(client_of(vera).get("/forecast/"))
    assert "About 400 credits are spent per day" in page
