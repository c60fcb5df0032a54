"""A person protects their own account: by a passkey of a virtual authenticator, and by an app."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import sign_in
from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import DemoPerson, LivePortal
from tests.browser.screenshots import ScreenshotAlbum
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
    """At the host name of this machine: an IP address has no passkeys."""
    address = live_portal.portal.replace("127.0.0.1", "localhost")
    with chromium.new_context(base_url=address, reduced_motion="reduce") as context:
        yield context.new_page()


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


def totp_code(key: str) -> str:
    return format_hotp_value(hotp_value(key, int(time.time()) // 30))


def enter_password(page: Page, person: DemoPerson) -> None:
    page.locator("input[name=login]").fill(person.email)
    page.locator("input[name=password]").fill(person.password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(re.compile("/second-factor/"))


def enter_code(page: Page, label: str, code: str) -> None:
    page.get_by_label(label, exact=True).fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_passkey_is_added_signs_in_alone_and_confirms(
    page: Page, live_portal: LivePortal
) -> None:
    vera = live_portal.person("Vera")
    sign_in(page, vera)
    add_virtual_authenticator(page)
    page.goto("/account/")
    assert serious_violations(page) == []
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
    ScreenshotAlbum.from_environment().take(page, "passkey-confirms")
    dialog.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("The passkey was removed.")).to_be_visible()


def test_an_app_is_set_up_and_asked_at_sign_in(page: Page, live_portal: LivePortal) -> None:
    thea = live_portal.person("Thea")
    sign_in(page, thea)
    page.goto("/account/")
    page.get_by_role("link", name="Set up an app").click()
    key = page.locator("#two-factor code").inner_text().replace(" ", "")
    assert serious_violations(page) == []
    page.get_by_label("Enter the six digits it shows now.").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_text("This code is wrong.")).to_be_visible()
    page.get_by_label("Enter the six digits it shows now.").fill(totp_code(key))
    page.get_by_role("button", name="Turn on").click()
    codes = save_recovery_codes(page)
    sign_out(page)
    enter_password(page, thea)
    assert serious_violations(page) == []
    enter_code(page, "Code", totp_code(key))
    page.wait_for_url(lambda url: "/accounts/login" not in url)
    sign_out(page)
    enter_password(page, thea)
    enter_code(page, "Code", codes[0])
    page.wait_for_url(lambda url: "/accounts/login" not in url)
    page.goto("/account/")
    expect(page.get_by_text("9 of 10 unused")).to_be_visible()
    turn_off_app(page)


def turn_off_app(page: Page) -> None:
    page.get_by_role("button", name="Turn off").click()
    dialog = page.get_by_role("dialog", name="Turn off the authenticator app?")
    dialog.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("Two-factor sign-in by app is off.")).to_be_visible()
