"""The what-if: real entries under another setting; nothing is asked of the service."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from time_machine import TimeMachineFixture

from dashboard.models import Membership
from dashboard.top_up.queries import build_what_if
from dashboard.top_up.queries import what_if as query
from dashboard.top_up.queries.what_if import TopUpWhatIf
from proxyapi import calls
from proxyapi.models import Account, CreditPack, LedgerEntry
from proxyapi.top_up import TopUpSetting
from tests.dashboard.top_up.conftest import HTMX, ON, ClientOf, form_data, visible_text_of
from tests.factories import ChargeFactory

Spend = Callable[..., LedgerEntry]
REFUND = "Refund"


@pytest.fixture(autouse=True)
def _nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a page asked the service")

    monkeypatch.setattr(calls, "acquire_permit", refuse)


@pytest.fixture
def ten_days_of_spending(account: Account, add_spend: Spend) -> Account:
    """Ten days of 300 credits each, on an account that has 200 left of 12,000 a month."""
    for day in range(10, 0, -1):
        add_spend("-300.0000", days=day)
    account.balance = Decimal(200)
    account.save()
    return Account.objects.select_related("tenant", "ledger", "top_up").get(pk=account.pk)


def test_the_real_spending_is_moved_again_under_the_setting(ten_days_of_spending: Account) -> None:
    found = build_what_if(ten_days_of_spending, ON)
    assert (found.top_ups, found.bought, found.busiest) == (1, 2000, 1)
    assert found.gaps == ()
    assert found.days == 11
    assert found.chart is not None and "topped up once, 2,200 credits" in found.chart.sentence


def test_without_top_up_it_is_what_it_was(ten_days_of_spending: Account) -> None:
    found = build_what_if(ten_days_of_spending, TopUpSetting(False, "dynamic-credits", None, 20))
    assert (found.top_ups, found.bought) == (0, 0)
    assert found.chart is not None and found.chart.sentence.endswith("200 credits today.")


@pytest.mark.parametrize("exactly", [400, 3])
@pytest.mark.parametrize("said_in", ["label", "content_type", "transaction_type"])
def test_the_top_ups_that_really_came_are_left_out(
    said_in: str,
    exactly: int,
    ten_days_of_spending: Account,
    add_spend: Spend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(query, "MAX_EXACT_ENTRIES", exactly)
    add_spend("2000.0000", days=5, **{"label": "Credits", said_in: "Auto top-up"})
    found = build_what_if(ten_days_of_spending, TopUpSetting(False, "dynamic-credits", None, 20))
    assert [gap.needed for gap in found.gaps] == [Decimal(300)] * len(found.gaps)
    assert (found.gap_count, found.by_day) == (6, exactly == 3)


@pytest.mark.parametrize("exactly", [400, 3])
@pytest.mark.parametrize("is_ours", [True, False])
def test_what_gives_back_a_film_about_top_ups_is_none(
    is_ours: bool,
    exactly: int,
    ten_days_of_spending: Account,
    add_spend: Spend,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A refund may bear its debit's label, and that the film's title."""
    monkeypatch.setattr(query, "MAX_EXACT_ENTRIES", exactly)
    charge = ChargeFactory(job__account=ten_days_of_spending) if is_ours else None
    said = {"charge": charge, "confidence": "certain"} if is_ours else {"transaction_type": REFUND}
    add_spend("2000.0000", days=5, label="How to top up a phone", **said)
    found = build_what_if(ten_days_of_spending, TopUpSetting(False, "dynamic-credits", None, 20))
    assert found.gap_count == (1 if found.by_day else 2)  # by day it comes before what is spent


def test_other_credits_come_as_they_came(ten_days_of_spending: Account, add_spend: Spend) -> None:
    add_spend("500.0000", days=5, label="Refund of a clip")
    assert build_what_if(ten_days_of_spending, TopUpSetting()).gaps == ()


def test_a_long_ledger_is_moved_day_by_day_to_the_same_end(
    ten_days_of_spending: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = build_what_if(ten_days_of_spending, ON)
    monkeypatch.setattr(query, "MAX_EXACT_ENTRIES", 3)
    by_day = build_what_if(ten_days_of_spending, ON)
    assert by_day.by_day and not exact.by_day
    assert (by_day.top_ups, by_day.bought) == (exact.top_ups, exact.bought)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Auckland"])
def test_day_by_day_what_was_left_stands_on_its_own_day(
    zone: str,
    account: Account,
    add_spend: Spend,
    monkeypatch: pytest.MonkeyPatch,
    time_machine: TimeMachineFixture,
) -> None:
    """pitfall_68: the clocks of New York went back on 1 November."""
    time_machine.move_to(datetime(2026, 11, 6, 12, tzinfo=UTC), tick=False)
    account.tenant.time_zone = zone
    account.tenant.save()
    for day in range(8, -1, -1):
        add_spend("1.0000", days=day + 0.01, label="Refund of a clip")
        add_spend("-300.0000", days=day)
    add_spend("2000.0000", days=3, label="Auto top-up")
    account.balance = Decimal(200)
    account.save()
    again = Account.objects.select_related("tenant", "ledger", "top_up").get(pk=account.pk)
    exact = build_what_if(again, TopUpSetting())
    monkeypatch.setattr(query, "MAX_EXACT_ENTRIES", 3)
    by_day = build_what_if(again, TopUpSetting())
    assert by_day.by_day and by_day.table == exact.table and len(exact.table) == 9
    assert days_of(by_day, zone) == days_of(exact, zone)


def days_of(found: TopUpWhatIf, zone: str) -> list[date]:
    return [gap.at.astimezone(ZoneInfo(zone)).date() for gap in found.gaps]


def test_a_packs_price_makes_it_money(ten_days_of_spending: Account) -> None:
    pack = TopUpSetting(True, "extra-credits", 301, None)
    assert (
        "The credits of pack 301 are not set" in build_what_if(ten_days_of_spending, pack).trouble
    )
    CreditPack.objects.create(
        tenant=ten_days_of_spending.tenant,
        plan_id=301,
        name="Big",
        credits=2000,
        price="19.90",
        currency="EUR",
    )
    assert build_what_if(ten_days_of_spending, pack).cost == "19.90 EUR"


def test_fractional_strings_stay_fractions(account: Account, add_spend: Spend) -> None:
    add_spend("-0.6800", days=2)
    add_spend("-12.1600", days=1)
    account.balance = Decimal("0.5")
    account.save()
    whole = Account.objects.select_related("tenant", "ledger", "top_up").get(pk=account.pk)
    found = build_what_if(whole, TopUpSetting())
    assert found.gaps == ()
    assert found.chart is not None and "0.5 credits today" in found.chart.sentence


def test_without_a_ledger_it_says_so(account: Account) -> None:
    assert "The ledger has no full day" in build_what_if(account, ON).trouble


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"units": "20"}, "once, 2,000 credits"), ({"enabled": None}, "bought nothing")],
)
def test_the_form_is_replayed_as_it_stands(
    changed: dict[str, Any],
    said: str,
    ten_days_of_spending: Account,
    thea: Membership,
    client_of: ClientOf,
) -> None:
    browser: Client = client_of(thea)
    answer = browser.get(
        "/top-up/what-if/", form_data(ten_days_of_spending, **changed), headers=HTMX
    )
    assert said in visible_text_of(answer)


def test_an_unfinished_form_is_not_replayed_and_without_script_the_page_replays(
    ten_days_of_spending: Account, thea: Membership, client_of: ClientOf
) -> None:
    browser = client_of(thea)
    unfinished = browser.get(
        "/top-up/what-if/", form_data(ten_days_of_spending, more="1"), headers=HTMX
    )
    assert "Complete the form above" in visible_text_of(unfinished)
    led = browser.get("/top-up/what-if/", {"account": str(ten_days_of_spending.pk)}, follow=True)
    assert "it would have bought once, 2,000 credits" in visible_text_of(led)


def test_a_ledger_that_was_quiet_for_eight_weeks_is_replayed(
    account: Account, add_spend: Spend
) -> None:
    add_spend("-200.0000", days=70)
    found = build_what_if(account, ON)
    assert found.trouble == ""
    assert found.top_ups == 0
