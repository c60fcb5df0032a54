"""An owner sets single sign-on up, tests and requires it; a person of a group joins with it, by the
domain that the operator allowed, and cannot change their account in that session."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal
from tests.browser.ready_pages import new_page
from tests.browser.session_age import run_management_command
from tests.openid_provider import OpenIDProvider, run_openid_provider

DEMO_TEAM, DOMAIN = "Northlight", "northlight.example"
SAM = f"sam.okafor@{DOMAIN}"


@pytest.fixture
def provider() -> Iterator[OpenIDProvider]:
    with run_openid_provider() as running:
        add_sam(running, asked_at_s=time.time() - 3600)
        yield running


def add_sam(provider: OpenIDProvider, asked_at_s: float) -> None:
    """Sam of the studio, whom the provider asked to sign in at this time."""
    said = {"email": SAM, "email_verified": True, "name": "Sam Okafor", "groups": ["studio"]}
    provider.add_person("sam", **said, auth_time=int(asked_at_s))


def expect_shown(locator: Locator) -> None:
    expect(locator).to_be_visible()


def set_up(page: Page, issuer: str) -> None:
    page.goto("/security/")
    page.locator("#single-sign-on-set-up > summary").click()
    page.get_by_label("Issuer").fill(issuer)
    page.get_by_label("Client ID").fill("reelroom")
    page.get_by_label("Group 1", exact=True).fill("video-admins")
    page.get_by_label("Role of group 1").select_option("admin")
    page.get_by_role("button", name="Add a group").click()
    expect_shown(page.get_by_label("Group 2", exact=True))
    page.get_by_label("Group 2", exact=True).fill("studio")
    page.get_by_label("Role of group 2").select_option("producer")
    page.locator("#security-single-sign-on").get_by_role("button", name="Save").click()
    expect_shown(page.get_by_text("Single sign-on saved."))
    page.get_by_role("button", name="Set the client secret").click()
    dialog = page.get_by_role("dialog", name="Set the client secret")
    dialog.get_by_label("New client secret").fill("what the provider gave us")
    dialog.get_by_role("button", name="Save secret").click()
    expect_shown(page.get_by_text("Client secret set. Test it."))


def sign_in_at_provider(page: Page, subject: str) -> None:
    """On the provider's page, which opens by itself."""
    expect_shown(page.get_by_role("heading", name="Authorize Client"))
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize").click()


def run_test(page: Page) -> None:
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Test", exact=True).click()
    tab = opened.value
    sign_in_at_provider(tab, "sam")
    expect_shown(tab.get_by_role("heading", name="The test passed"))


def remove(page: Page) -> None:
    """The portal is used by other tests, too."""
    page.goto("/security/")
    page.locator("#single-sign-on-state").get_by_role("button", name="Remove").click()
    expect_shown(page.get_by_text("Single sign-on was removed."))


def join(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("link", name="Sign in with single sign-on").click()
    page.get_by_label("E-mail").fill(SAM)
    assert serious_violations(page) == []
    page.get_by_role("button", name="Continue").click()
    sign_in_at_provider(page, "sam")
    page.wait_for_url("**/")
    expect_shown(page.get_by_role("heading", name="Overview", exact=True))


def see_own_account_closed(page: Page) -> None:
    """A team's provider opens the team alone: Sam cannot set up an app with it."""
    page.goto("/account/app/")
    page.wait_for_url("**/account/")
    expect_shown(page.get_by_text("which opens that team alone").first)
    assert serious_violations(page) == []


def test_an_owner_requires_single_sign_on_and_a_person_of_a_group_joins(
    open_fresh_page: Callable[..., Page],
    chromium: Browser,
    live_portal: LivePortal,
    provider: OpenIDProvider,
) -> None:
    options: Any = {"base_url": live_portal.portal, "reduced_motion": "reduce"}
    mira = open_fresh_page("Mira")
    # The provider's own pages ask the internet for a stylesheet.
    mira.context.route(re.compile("^https:"), lambda route: route.fulfill(content_type="text/css"))
    set_up(mira, provider.issuer)
    run_test(mira)
    run_management_command(live_portal, "allow_sign_in_domain", DEMO_TEAM, DOMAIN)
    expect_shown(mira.locator("#single-sign-on-test", has_text=f"{SAM}, group studio"))
    assert serious_violations(mira) == []
    mira.get_by_role("switch", name="Require single sign-on").click()
    try:
        expect_shown(mira.get_by_text("Single sign-on is required of everyone but owners now."))
        with chromium.new_context(**options) as context:
            sam = new_page(context)
            join(sam)
            see_own_account_closed(sam)
            vera = live_portal.person("Vera")
            other = new_page(chromium.new_context(**options))
            other.goto("/accounts/login/")
            other.get_by_label("E-mail").fill(vera.email)
            other.locator("input[name=password]").fill(vera.password)
            other.get_by_role("button", name="Sign in", exact=True).click()
            expect_shown(other.get_by_text(re.compile("requires single sign-on")))
            assert serious_violations(other) == []
            other.context.close()
    finally:
        remove(mira)
