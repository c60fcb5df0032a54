"""An owner requires two-factor; the open page of a member is led to its set-up, and from then on
sign-in asks for a code of the app or for a recovery code."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.sync_api import Locator, Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import DemoPerson, LivePortal
from tests.browser.test_account import save_recovery_codes, sign_out

OpenPage = Callable[..., Page]
LED_AWAY_TIMEOUT_MS = 60_000  # the stream ends within 5 s, then the page asks for itself


def expect_shown(locator: Locator) -> None:
    expect(locator).to_be_visible()


def totp_code(key: str) -> str:
    return format_hotp_value(hotp_value(key, int(time.time()) // 30))


def enter_password(page: Page, person: DemoPerson) -> None:
    page.locator("input[name=login]").fill(person.email)
    page.locator("input[name=password]").fill(person.password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(re.compile("/second-factor/"))


def enter_code(page: Page, code: str) -> None:
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_role("button", name="Sign in", exact=True).click()


def set_up_app(page: Page) -> tuple[str, list[str]]:
    """Returns the key of the app and the recovery codes."""
    page.get_by_role("link", name="Set up an app").click()
    key = page.locator("#two-factor code").inner_text().replace(" ", "")
    page.get_by_label("Enter the six digits it shows now.").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect_shown(page.get_by_text("This code is wrong."))
    page.get_by_label("Enter the six digits it shows now.").fill(totp_code(key))
    page.get_by_role("button", name="Turn on").click()
    expect_shown(page.locator(".codes li").first)
    return key, save_recovery_codes(page)


def turn_off_app(page: Page) -> None:
    page.get_by_role("button", name="Turn off").click()
    dialog = page.get_by_role("dialog", name="Turn off the authenticator app?")
    dialog.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("Two-factor sign-in by app is off.")).to_be_visible()


def add_domain(page: Page) -> None:
    page.get_by_label("Allowed e-mail domains").fill("mira@northlight.example")
    page.get_by_role("button", name="Add", exact=True).click()
    expect_shown(page.get_by_text("Enter only what follows the @"))
    assert serious_violations(page) == []
    page.get_by_label("Allowed e-mail domains").fill("@Northlight.example")
    page.get_by_role("button", name="Add", exact=True).click()
    expect_shown(page.get_by_text("Addresses at northlight.example are allowed."))


def switch(page: Page) -> None:
    page.get_by_role("switch", name="Require two-factor for everyone").click()


def follow_to_set_up(page: Page) -> None:
    """The page that was open goes there by itself."""
    page.wait_for_url("**/two-factor-required/", timeout=LED_AWAY_TIMEOUT_MS)
    assert serious_violations(page) == []
    page.goto("/library/")
    expect_shown(page.get_by_role("heading", name="Set up two-factor"))
    page.get_by_role("link", name="Set up two-factor").click()
    expect_shown(page.get_by_role("link", name="Set up an app"))
    expect(page.get_by_text("Free to spend")).to_have_count(0)
    assert serious_violations(page) == []


def test_an_owner_requires_two_factor_and_an_open_page_of_a_member_is_led_to_set_it_up(
    open_fresh_page: OpenPage, live_portal: LivePortal
) -> None:
    mira, vera = open_fresh_page("Mira"), open_fresh_page("Vera")
    mira.goto("/security/")
    expect(mira.get_by_role("switch", name="Require two-factor for everyone")).to_be_disabled()
    mira.get_by_role("link", name="Set up two-factor").click()
    set_up_app(mira)
    vera.goto("/library/")
    mira.goto("/security/")
    add_domain(mira)
    switch(mira)
    expect_shown(mira.get_by_text("Two-factor is required of every member now."))
    try:
        follow_to_set_up(vera)
        key, codes = set_up_app(vera)
        vera.goto("/library/")
        expect_shown(vera.get_by_role("heading", name="Library"))
        lacking = mira.locator("#security-two-factor li", has_text="Vera Costa")
        expect(lacking).to_have_count(0)  # without a reload
        for code in (totp_code(key), codes[0]):
            sign_out(vera)
            enter_password(vera, live_portal.person("Vera"))
            enter_code(vera, code)
            vera.wait_for_url(lambda url: "/accounts/login" not in url)
        vera.goto("/account/")
        expect_shown(vera.get_by_text("9 of 10 unused"))
    finally:
        restore(mira, vera)


def restore(mira: Page, vera: Page) -> None:
    """Other tests use the portal, too."""
    mira.goto("/security/")
    switch(mira)
    expect_shown(mira.get_by_text("Two-factor is not required any more."))
    mira.get_by_role("button", name="Remove northlight.example").click()
    expect_shown(mira.get_by_text("northlight.example was removed."))
    for page in (mira, vera):
        page.goto("/account/")
        if page.get_by_role("button", name="Turn off").count():
            turn_off_app(page)
