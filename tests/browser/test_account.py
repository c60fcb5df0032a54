"""A person protects their own account by a passkey of a virtual authenticator."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import sign_in
from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import DemoPerson, LivePortal
from tests.browser.ready_pages import new_page
from tests.browser.session_age import make_sign_ins_old

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(chromium: Browser, live_portal: LivePortal) -> Iterator[Page]:
    with chromium.new_context(base_url=live_portal.portal, reduced_motion="reduce") as context:
        yield new_page(context)


def add_virtual_authenticator(page: Page) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="your account").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url(re.compile("/accounts/login/"))


def save_recovery_codes(page: Page) -> list[str]:
    """Download them, and say that they are saved."""
    expect(page.get_by_role("link", name="Download")).to_be_visible()
    codes = page.locator(".codes li").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.path().read_text().split() == codes
    assert len(codes) == 10
    assert serious_violations(page) == []
    page.get_by_role("button", name="I have saved them").click()
    expect(page.get_by_text("10 of 10 unused")).to_be_visible()
    return codes


def test_a_passkey_is_added_signs_in_alone_and_confirms(
    page: Page, live_portal: LivePortal
) -> None:
    vera = live_portal.person("Vera")
    sign_in(page, vera)
    add_virtual_authenticator(page)
    page.goto("/account/")
    page.get_by_role("button", name="Add a passkey").click()
    dialog = page.get_by_role("dialog", name="Add a passkey")
    dialog.get_by_label("Name").fill("MacBook")
    assert serious_violations(page) == []
    dialog.get_by_role("button", name="Add passkey").click()
    save_recovery_codes(page)
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url(lambda url: "/accounts/login" not in url)
    page.goto("/account/")
    expect(page.locator("#sessions")).to_contain_text("passkey “MacBook”")
    confirm_by_passkey(page, vera, live_portal)


def confirm_by_passkey(page: Page, person: DemoPerson, live_portal: LivePortal) -> None:
    """Remove the passkey, an hour after the sign-in: it is asked for, and the password too."""
    make_sign_ins_old(live_portal, person)
    page.get_by_role("button", name="Actions for MacBook").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    dialog = page.get_by_role("dialog", name="Remove MacBook?")
    expect(dialog.get_by_label("Your password")).to_be_visible()
    assert serious_violations(page) == []
    dialog.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The passkey was removed.")).to_be_visible()
