"""The forecast page: a range or none, what it assumes, and whether a batch fits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import Membership
from proxyapi import calls
from proxyapi.models import Account, AccountPlan, AutoTopUp, CreditPack, LedgerEntry, LedgerMirror
from proxyapi.rollups import daily_totals
from proxyapi.top_up import TopUpSetting
from tests.dashboard.top_up.conftest import HTMX, ClientOf, visible_text_of
from tests.factories import ChargeFactory, EntryFactory, JobFactory

PAGE, SUMMARY = "/forecast/", "/forecast/summary/"
Spend = Callable[..., LedgerEntry]


@pytest.fixture(autouse=True)
def _nobody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a page asked the service")

    monkeypatch.setattr(calls, "acquire_permit", refuse)


@pytest.fixture
def browser(vera: Membership, account: Account, client_of: ClientOf) -> Client:
    return client_of(vera)


def off() -> None:
    AutoTopUp.objects.update(**TopUpSetting(False, "dynamic-credits", None, 20).to_dict())


@pytest.fixture
def four_weeks(account: Account, add_spend: Spend) -> None:
    """400 credits every day, workdays and Sundays alike."""
    times = [timezone.now() - timedelta(days=day) for day in range(1, 29) for _ in range(2)]
    spent = {"label": "AI video", "credit_spend": "-200.0000", "amount": Decimal(-200)}
    entries = [
        EntryFactory.build(
            account=account, position=position, happened_at=at, via_api=True, **spent
        )
        for position, at in enumerate(times)
    ]
    LedgerEntry.objects.bulk_create(entries)
    zone = account.tenant.zone
    daily_totals.rebuild_days(account, {at.astimezone(zone).date() for at in times})


def test_even_days_run_out_on_the_day_that_arithmetic_says(
    browser: Client, account: Account, four_weeks: None
) -> None:
    """4,318 credits at 400 a day: ten days, and on the eleventh a charge is refused."""
    off()
    page = visible_text_of(browser.get(PAGE))
    ends = timezone.localdate() + timedelta(days=10)
    assert f"The credits run out {ends.day} {ends:%b}" in page
    assert "About 400 credits are spent per day, based on the last 28 days." in page
    assert "Automatic top-up is off or has not been read yet." in page


def test_what_open_charges_hold_is_spent_already(
    browser: Client, account: Account, four_weeks: None
) -> None:
    off()
    job = JobFactory.create(account=account, token=account.tokens.get())
    ChargeFactory.create(job=job, hold=Decimal(800))
    page = visible_text_of(browser.get(PAGE))
    ends = timezone.localdate() + timedelta(days=8)
    assert f"The credits run out {ends.day} {ends:%b}" in page
    assert "Free to spend 3,518" in page


def test_with_top_up_on_the_days_are_those_without_it(browser: Client, four_weeks: None) -> None:
    page = visible_text_of(browser.get(PAGE))
    today = timezone.localdate()
    ends, until = today + timedelta(days=10), today + timedelta(days=60)
    assert f"Without top-ups the credits run out {ends.day} {ends:%b} In 80 %" in page
    last = f"{until.day} {until:%b}"
    assert f"With about 11 automatic top-ups until {last}: not before {last}." in page
    assert "Balance forecast with automatic top-ups" in page
    assert "Top-up buys 2,000 credits" in page


def test_the_summary_says_what_top_ups_change_before_anything_else(
    browser: Client, account: Account, four_weeks: None
) -> None:
    Account.objects.update(plan_ends_at=timezone.now() + timedelta(days=5))
    summary = visible_text_of(browser.get(SUMMARY))
    ends = timezone.localdate() + timedelta(days=10)
    assert f"Without top-ups the credits run out: {ends.day} {ends:%b}" in summary
    assert "automatic top-ups until" in summary
    assert "The plan renews" not in summary


def test_top_ups_that_change_nothing_are_said_to(
    browser: Client, account: Account, four_weeks: None
) -> None:
    Account.objects.update(balance=90_000)
    page = visible_text_of(browser.get(PAGE))
    assert "Without top-ups the credits run out Not before" in page
    assert "Automatic top-ups do not change this." in page


@pytest.mark.parametrize(
    ("balance", "text"),
    [
        (40_000, "In all 200 simulations the credits last at least 60 days; later days are not"),
        (4_318, "In 80 % of 200 simulations the credits run out in this range; in half of them"),
    ],
)
def test_the_share_of_simulations_is_a_plain_sentence(
    balance: int, text: str, browser: Client, account: Account, four_weeks: None
) -> None:
    off()
    Account.objects.update(balance=balance)
    assert text in visible_text_of(browser.get(PAGE))


@pytest.mark.parametrize("days", [1, 6])
def test_few_days_are_no_forecast(days: int, browser: Client, add_spend: Spend) -> None:
    for day in range(1, days + 1):
        add_spend("-10", days=day)
    page = visible_text_of(browser.get(PAGE))
    assert "Not enough days" in page
    assert f"The ledger has {days} full day" in page
    ready = timezone.localdate() + timedelta(days=7 - days)
    assert f"The forecast starts with 7: {ready.day} {ready:%b}." in page


def test_without_an_entry_there_is_no_day_to_promise(browser: Client) -> None:
    assert "The ledger has no entries yet." in visible_text_of(browser.get(PAGE))


def test_days_of_nothing_are_said_to_be_that(browser: Client, add_spend: Spend) -> None:
    add_spend("500.0000", days=20, label="Monthly plan")
    assert "Nothing is spent" in visible_text_of(browser.get(PAGE))


def test_a_ledger_that_was_quiet_for_eight_weeks_is_not_without_an_entry(
    browser: Client, add_spend: Spend
) -> None:
    add_spend("-200.0000", days=70)
    page = visible_text_of(browser.get(PAGE))
    assert "Nothing is spent" in page
    assert "no entries yet" not in page


@pytest.mark.parametrize("low", [0, 40])
def test_quiet_days_after_older_rows_are_days_that_are_known(
    browser: Client, account: Account, add_spend: Spend, low: int
) -> None:
    """Of eight weeks with one expensive day 55 were quiet, whether the history is whole or not."""
    off()
    add_spend("-200.0000", days=70)
    add_spend("-2000.0000", days=8)
    LedgerMirror.objects.filter(account=account).update(low=low, high=low + 2)
    page = visible_text_of(browser.get(PAGE))
    assert "from the last 56 days" in page


def test_whether_it_lasts_until_the_plan_renews(
    browser: Client, account: Account, four_weeks: None
) -> None:
    off()
    ends = timezone.now() + timedelta(days=5)
    Account.objects.update(plan_ends_at=ends)
    said = (
        f"The plan renews on {ends.day} {ends:%b}; the credits last until then in 100 % of the "
        "simulations."
    )
    assert said in visible_text_of(browser.get(PAGE))


def test_a_pack_that_nobody_described_is_not_counted_and_said(
    browser: Client, account: Account, four_weeks: None
) -> None:
    AutoTopUp.objects.update(**TopUpSetting(True, "extra-credits", 301, None).to_dict())
    page = visible_text_of(browser.get(PAGE))
    assert "Top-up buys pack 301, whose credits are not set" in page
    CreditPack.objects.create(tenant=account.tenant, plan_id=301, name="Small", credits=500)
    assert "Top-up buys 500 credits" in visible_text_of(browser.get(PAGE))


def test_an_unpaid_plan_is_said(browser: Client, four_weeks: None) -> None:
    Account.objects.update(plan=AccountPlan.NONE)
    assert "cannot be spent through the API now: no paid plan." in visible_text_of(
        browser.get(PAGE)
    )


@pytest.mark.parametrize(
    ("asked", "enabled", "answer"),
    [
        ({"n": "10", "each": "96"}, False, "Yes, all now."),
        ({"n": "10", "each": "431.9"}, False, "No, only 9 of 10. 10 × 431.9 = 4,319 cr; 4,318"),
        ({"n": "1", "each": "5,000"}, False, "No, not even one."),
        ({"n": "50", "each": "96"}, True, "Only with top-up: now."),
        (
            {"n": "200", "each": "96"},
            True,
            "because at most three top-ups per UTC day are possible.",
        ),
        (
            {"n": "2", "each": "4300"},
            True,
            "A top-up is triggered only by spending through the API",
        ),
    ],
)
def test_the_batch_is_answered(
    asked: dict[str, str], enabled: bool, answer: str, browser: Client, account: Account
) -> None:
    if not enabled:
        off()
    assert answer in visible_text_of(browser.get(PAGE, asked))


@pytest.mark.parametrize(
    "asked",
    [
        {"n": "0", "each": "9"},
        {"n": "x", "each": "9"},
        {"n": "5", "each": "0"},
        {"n": "5", "each": "1e3"},
        {"n": "5"},
    ],
)
def test_a_batch_that_is_none_is_said_beside_its_field(
    asked: dict[str, Any], browser: Client
) -> None:
    page = browser.get(PAGE, asked)
    assert page.status_code == 200
    assert 'aria-invalid="true"' in page.content.decode()


def test_the_part_that_follows_the_ledger_comes_alone(browser: Client, four_weeks: None) -> None:
    html = browser.get(PAGE, headers=HTMX).content.decode()
    assert 'id="outlook"' in html and "<html" not in html


def test_a_team_without_an_account_sees_that_it_has_none(
    vera: Membership, client_of: ClientOf
) -> None:
    assert "No account yet" in visible_text_of(client_of(vera).get(PAGE))


def test_the_page_takes_few_queries(
    browser: Client, four_weeks: None, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(14):
        browser.get(PAGE, {"n": "3", "each": "96"})
