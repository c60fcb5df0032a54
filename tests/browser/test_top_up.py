"""Automatic top-up over the real processes: requested in a page, sent by the worker, pushed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest

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
