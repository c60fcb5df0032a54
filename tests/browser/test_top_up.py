"""Automatic top-up over the real processes: requested in a page, sent by the worker, pushed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import APIResponse, Page, Route, expect

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest, wait_until

DeskOf = Callable[..., MemberPage]
BUYS = {"enabled": True, "type": "dynamic-credits", "units": 3}


@pytest.fixture
def sandbox_guest(sandbox_control: SandboxControl, open_member_page: DeskOf) -> SandboxGuest:
    """An account of its own, opened by Mira."""
    guest = sandbox_control.create_account(name="Northlight Clips")
    open_member_page("Mira").use_token_of(guest)
    return guest


@pytest.fixture
def thea(open_member_page: DeskOf, sandbox_guest: SandboxGuest) -> Page:
    """The treasurer at the newest account's top-up."""
    page: Page = open_member_page("Thea").page
    page.goto("/top-up/")
    page.get_by_role("navigation", name="Account").get_by_role("link").last.click()
    expect(page.locator("#what-if")).to_contain_text("What if")
    return page


def choose(page: Page, credits: str) -> None:
    """On, for so many credits a time; up to the question."""
    page.get_by_label("Top up automatically").check()
    page.locator(".unit", has_text=credits).first.click()
    page.get_by_role("button", name="Save").click()


def at_the_service(site: LivePortal, guest: SandboxGuest, **body: Any) -> dict[str, Any]:
    """What somebody else's program does with the same token."""
    url = f"{site.sandbox}/v2/account/auto-topup"
    headers = {"Authorization": f"Bearer {guest.token}"}
    if body:
        httpx.put(url, json=body, headers=headers, trust_env=False).raise_for_status()
    shown: dict[str, Any] = httpx.get(url, headers=headers, trust_env=False).json()["data"]
    return shown


def test_a_setting_is_saved_by_the_worker_and_shown_without_a_reload(
    thea: Page,
    open_member_page: DeskOf,
    live_portal: LivePortal,
    sandbox_guest: SandboxGuest,
) -> None:
    mira = open_member_page("Mira").page
    mira.goto(thea.url)
    choose(thea, "500")
    question = thea.locator("dialog[open]")
    expect(question).to_contain_text("+1,500")
    question.get_by_role("button", name="Turn on top-up").click()
    notices = thea.locator("#top-up-notices")
    expect(notices).to_contain_text("Saved.")
    expect(thea.locator("#top-up-history")).to_contain_text("Off On, 500 cr per top-up Saved")
    expect(mira.locator("#top-up-notices")).to_contain_text("Requested by Thea at")
    expect(mira.locator("#top-up-notices")).to_contain_text("changed while this page was open")
    shown = at_the_service(live_portal, sandbox_guest)
    assert (shown["enabled"], shown["type"], shown["units"]) == (True, "dynamic-credits", 5)
    with thea.expect_request("**/top-up/what-if/*"):  # it follows the form that was laid anew
        thea.locator(".unit", has_text="300").first.click()


def test_the_what_if_follows_a_choice_made_just_before_it_is_swapped(thea: Page) -> None:
    """A ledger event swaps it, from the form as it was a moment ago."""
    with thea.expect_response("**/top-up/what-if/*"):
        thea.get_by_label("Top up automatically").check()
    answers: list[tuple[Route, APIResponse]] = []
    thea.route("**/top-up/what-if/*", lambda route: answers.append((route, route.fetch())), times=1)
    thea.evaluate("htmx.trigger(document.body, 'reelroom:ledger')")
    wait_until(lambda: thea.evaluate("true") and answers)
    with thea.expect_request(re.compile(r"/top-up/what-if/\?.*units=3")):
        thea.locator(".unit", has_text="300").first.click()
        route, answer = answers[0]
        route.fulfill(response=answer)


def test_somebody_changed_it_at_the_service_meanwhile(
    thea: Page, live_portal: LivePortal, sandbox_guest: SandboxGuest
) -> None:
    choose(thea, "500")
    at_the_service(live_portal, sandbox_guest, **BUYS)
    thea.locator("dialog[open]").get_by_role("button", name="Turn on top-up").click()
    notices = thea.locator("#top-up-notices")
    expect(notices).to_contain_text("Not saved.")
    expect(notices).to_contain_text("Someone else changed the setting")
    expect(notices).to_contain_text("now it is on, 300 cr per top-up")
    assert at_the_service(live_portal, sandbox_guest)["units"] == 3


def test_without_a_saved_payment_method_it_says_what_to_do(
    thea: Page, sandbox_control: SandboxControl, sandbox_guest: SandboxGuest
) -> None:
    sandbox_control.change_account(sandbox_guest, payment_method=False)
    choose(thea, "500")
    thea.locator("dialog[open]").get_by_role("button", name="Turn on top-up").click()
    notices = thea.locator("#top-up-notices")
    expect(notices).to_contain_text("no saved payment method")
    expect(thea.get_by_label("Top up automatically")).not_to_be_checked()


def test_typed_units_are_said_in_credits_and_unchoose_the_presets(thea: Page) -> None:
    thea.get_by_label("Top up automatically").check()
    thea.locator(".unit", has_text="500").first.click()
    typed = thea.get_by_label("More than 100 units")
    typed.fill("150")
    expect(thea.locator("#units-more")).to_have_text("units, that is 15,000 credits")
    expect(thea.locator(".unit input:checked")).to_have_count(0)
    thea.locator(".unit", has_text="500").first.click()
    expect(typed).to_have_value("")
    typed.fill("100")
    thea.get_by_role("button", name="Save").click()
    expect(thea.locator("#id_more_error")).to_contain_text("101 to 199,999")


def test_a_batch_is_reckoned_from_the_address(thea: Page) -> None:
    account = parse_qs(urlsplit(thea.url).query)["account"][0]
    thea.goto(f"/forecast/?account={account}")
    thea.get_by_label("How many").fill("5")
    thea.get_by_label("About each, cr").fill("96")
    thea.get_by_role("button", name="Calculate").click()
    expect(thea.locator("#batch")).to_contain_text("Yes, all now.")
    assert "n=5" in thea.url
    thea.get_by_role("button", name="Calculate").click()  # the same once more goes nowhere
    thea.get_by_label("How many").fill("6")
    thea.get_by_role("button", name="Calculate").click()
    thea.wait_for_url(re.compile("n=6"))
