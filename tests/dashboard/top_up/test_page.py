"""What the top-up page shows: the setting, its failures, today's count, incoming credits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import Membership
from dashboard.top_up.queries.state import day_reset_text
from proxyapi.models import Account, AccountPlan, AutoTopUp, LedgerEntry, Tenant, TokenState
from proxyapi.top_up import infer_from_entries
from tests.dashboard.top_up.conftest import HTMX, ClientOf, visible_text_of
from tests.factories import AccountFactory

PAGE = "/top-up/"


@pytest.fixture
def browser(thea: Membership, account: Account, client_of: ClientOf) -> Client:
    return client_of(thea)


def test_the_treasurer_sees_the_setting_as_it_is(browser: Client) -> None:
    page = visible_text_of(browser.get(PAGE))
    assert "On, 2,000 cr per top-up" in page
    assert "below 1,200, 10 % of the monthly plan" in page
    assert "0 of 3" in page
    html = browser.get(PAGE).content.decode()
    assert 'name="units" value="20" checked' in html
    assert 'name="enabled" type="checkbox" checked' in html


def test_pitfalls_76_and_81_failures_are_n_of_3_and_toggling_does_not_clear_them(
    browser: Client, account: Account
) -> None:
    seen = timezone.now() - timedelta(hours=2)
    AutoTopUp.objects.update(consecutive_failures=1, failure_seen_at=seen)
    page = visible_text_of(browser.get(PAGE))
    assert "1 of 3" in page
    assert "Turning it off and on here does not reset the count." in page
    assert "The last automatic top-up failed" in page
    assert "waits 24 hours. The wait ends" in page
    assert "at the latest. inferred" in page


def test_pitfall_77_switched_off_by_three_failures_it_says_so_and_switches_nothing_on(
    browser: Client, account: Account
) -> None:
    AutoTopUp.objects.update(enabled=False, consecutive_failures=3, found_off_at=timezone.now())
    page = visible_text_of(browser.get(PAGE))
    assert "Top-up was on and has been off since" in page
    assert "The service turned it off after three failed payments." in page
    assert not account.top_up_changes.exists()


def test_switched_off_here_after_three_failures_nobody_blames_the_service(browser: Client) -> None:
    """pitfall_76: the count stays when somebody here switches it on again, and off later."""
    AutoTopUp.objects.update(enabled=False, consecutive_failures=3, left_enabled=False)
    page = visible_text_of(browser.get(PAGE))
    assert "The last automatic top-up failed" in page
    assert "switched it off" not in page and "switched top-up off" not in page


def test_without_a_token_it_says_from_when_it_is_and_promises_no_reading(
    browser: Client, account: Account
) -> None:
    account.tokens.update(state=TokenState.REVOKED)
    page = visible_text_of(browser.get(PAGE))
    assert "This account has no working token. Shown as of" in page
    assert "It can be saved when a member adds a token for this account." in page
    AutoTopUp.objects.update(read_at=None)
    assert "within a minute" not in (page := visible_text_of(browser.get(PAGE)))
    assert "At the service not read yet" in page
    account.tokens.update(state=TokenState.WORKING)
    assert "has not been read from the service yet. This takes up to a minute." in visible_text_of(
        browser.get(PAGE)
    )


def test_drift_without_failures_says_that_somebody_did_it(browser: Client) -> None:
    AutoTopUp.objects.update(enabled=False, found_off_at=timezone.now())
    assert "Someone changed it at the service" in visible_text_of(browser.get(PAGE))


def test_pitfall_81_todays_count_is_read_from_the_ledger_and_called_inferred(
    browser: Client, account: Account, add_spend: Callable[..., LedgerEntry]
) -> None:
    add_spend("2000.00", days=0, label="Auto top-up")
    add_spend("98.00", days=0, label="Refund of a clip")
    page = visible_text_of(browser.get(PAGE))
    assert "Today, UTC inferred 1 of 3" in page
    assert "Auto top-up Ledger, by its label" in page


@pytest.mark.parametrize(
    ("zone", "now", "sentence"),
    [
        ("UTC", datetime(2026, 3, 28, 12, tzinfo=UTC), "resets at 00:00 UTC."),
        ("Europe/Berlin", datetime(2026, 3, 27, 12, tzinfo=UTC), "01:00 in Berlin."),
        ("Europe/Berlin", datetime(2026, 3, 29, 12, tzinfo=UTC), "02:00 in Berlin."),
        ("Europe/Berlin", datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "01:00 in Berlin."),
        ("America/New_York", datetime(2026, 11, 1, 5, 30, tzinfo=UTC), "19:00 in New York."),
    ],
)
def test_pitfall_68_the_utc_day_is_shown_in_the_teams_zone_too(
    zone: str, now: datetime, sentence: str
) -> None:
    words = day_reset_text(infer_from_entries([], None, now), Tenant(time_zone=zone).zone)
    assert words.endswith(sentence)


@pytest.mark.parametrize("plan", [AccountPlan.TRIAL, AccountPlan.NONE])
def test_pitfall_80_a_closed_account_explains_itself_and_keeps_its_history(
    plan: AccountPlan, browser: Client, account: Account, add_spend: Callable[..., LedgerEntry]
) -> None:
    Account.objects.update(plan=plan)
    add_spend("2000.0000", days=3, label="Auto top-up")
    response = browser.get(PAGE)
    page = visible_text_of(response)
    assert response.status_code == 200
    assert "Top-up is not available until the plan is paid." in page
    assert "+2,000" in page


def test_two_accounts_are_two_tabs_and_one_page_each(browser: Client, account: Account) -> None:
    other = AccountFactory.create(tenant=account.tenant, name="Northlight Shorts")
    first, second = browser.get(PAGE), browser.get(PAGE, {"account": str(other.pk)})
    assert "Northlight Shorts" in visible_text_of(first)
    assert "On, 2,000 cr per top-up" in visible_text_of(first)
    assert "On, 2,000 cr per top-up" not in visible_text_of(second)
    assert "This account has no working token." in visible_text_of(second)


@pytest.mark.parametrize("named", ["nonsense", "00000000-0000-4000-8000-000000000000"])
def test_an_account_that_is_not_ours_does_not_exist(named: str, browser: Client) -> None:
    assert browser.get(PAGE, {"account": named}).status_code == 404
    assert browser.get("/top-up/state/", {"account": named}).status_code == 404


def test_another_teams_account_does_not_exist(
    account: Account, otto: Membership, client_of: ClientOf
) -> None:
    assert client_of(otto).get(PAGE, {"account": str(account.pk)}).status_code == 404


def test_a_team_without_an_account_sees_how_to_add_one(
    thea: Membership, client_of: ClientOf
) -> None:
    page = visible_text_of(client_of(thea).get(PAGE))
    assert "No account yet" in page


def test_other_roles_cannot_open_it_and_see_who_can(
    jonas: Membership, account: Account, client_of: ClientOf
) -> None:
    response = client_of(jonas).get(PAGE)
    assert response.status_code == 403
    assert "Only treasurers and owners can change money settings." in visible_text_of(response)
    home = client_of(jonas).get("/library/").content.decode()
    assert 'href="/top-up/"' not in home


def test_the_part_that_fetches_itself_brings_the_notices_along(
    browser: Client, account: Account
) -> None:
    answer = browser.get("/top-up/state/", {"account": str(account.pk), "drawn": "x"}, headers=HTMX)
    html = answer.content.decode()
    assert 'id="top-up-state"' in html
    assert 'id="top-up-notices"' in html and "hx-swap-oob" in html
    assert "The setting changed while this page was open." in html
    assert "<html" not in html


def test_the_page_takes_few_queries_however_much_there_is(
    browser: Client,
    account: Account,
    add_spend: Callable[..., LedgerEntry],
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    for days in range(20):
        add_spend("-12.5", days=days)
    with django_assert_max_num_queries(13):  # type: ignore[attr-defined]
        browser.get(PAGE)
