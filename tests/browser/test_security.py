"""An owner requires two-factor; the open page of a member is led to its set-up."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.screenshots import ScreenshotAlbum
from tests.browser.test_account import save_recovery_codes, totp_code, turn_off_app

OpenPage = Callable[..., Page]
LED_AWAY_TIMEOUT_MS = 60_000  # the stream ends within 5 s, then the page asks for itself
SIZES = {"wide": (1440, 900), "phone": (390, 844)}


def expect_shown(locator: Locator) -> None:
    expect(locator).to_be_visible()


def take_pictures(album: ScreenshotAlbum, page: Page, name: str) -> None:
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        album.take(page, f"security-{name}-{size}")
    page.set_viewport_size({"width": 1280, "height": 800})


def set_up_app(page: Page) -> None:
    page.get_by_role("link", name="Set up an app").click()
    key = page.locator("#two-factor code").inner_text().replace(" ", "")
    page.get_by_label("Enter the six digits it shows now.").fill(totp_code(key))
    page.get_by_role("button", name="Turn on").click()
    expect_shown(page.locator(".codes li").first)
    save_recovery_codes(page)


def add_domain(page: Page, album: ScreenshotAlbum) -> None:
    page.get_by_label("Allowed e-mail domains").fill("mira@northlight.example")
    page.get_by_role("button", name="Add", exact=True).click()
    expect_shown(page.get_by_text("Enter only what follows the @"))
    assert serious_violations(page) == []
    take_pictures(album, page, "wrong-domain")
    page.get_by_label("Allowed e-mail domains").fill("@Northlight.example")
    page.get_by_role("button", name="Add", exact=True).click()
    expect_shown(page.get_by_text("Addresses at northlight.example are allowed."))


def switch(page: Page) -> None:
    page.get_by_role("switch", name="Require two-factor for everyone").click()


def follow_to_set_up(page: Page, album: ScreenshotAlbum) -> None:
    """The page that was open goes there by itself."""
    page.wait_for_url("**/two-factor-required/", timeout=LED_AWAY_TIMEOUT_MS)
    assert serious_violations(page) == []
    take_pictures(album, page, "required")
    page.goto("/library/")
    expect_shown(page.get_by_role("heading", name="Set up two-factor"))
    page.get_by_role("link", name="Set up two-factor").click()
    expect_shown(page.get_by_role("link", name="Set up an app"))
    expect(page.get_by_text("Free to spend")).to_have_count(0)
    assert serious_violations(page) == []
    take_pictures(album, page, "set-up")


def test_the_dialog_to_sign_everyone_out_says_whom_it_ends(
    open_fresh_page: OpenPage, album: ScreenshotAlbum
) -> None:
    mira = open_fresh_page("Mira")
    mira.goto("/security/")
    mira.get_by_role("button", name="Sign everyone out").click()
    dialog = mira.get_by_role("dialog", name="Sign everyone out?")
    expect_shown(dialog.get_by_text("Renders, API keys and webhooks go on."))
    assert serious_violations(mira) == []
    take_pictures(album, mira, "sign-out")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)


def test_an_owner_requires_two_factor_and_an_open_page_of_a_member_is_led_to_set_it_up(
    open_fresh_page: OpenPage, album: ScreenshotAlbum
) -> None:
    mira, vera = open_fresh_page("Mira"), open_fresh_page("Vera")
    mira.goto("/security/")
    expect(mira.get_by_role("switch", name="Require two-factor for everyone")).to_be_disabled()
    take_pictures(album, mira, "without")
    mira.get_by_role("link", name="Set up two-factor").click()
    set_up_app(mira)
    vera.goto("/library/")
    mira.goto("/security/")
    assert serious_violations(mira) == []
    add_domain(mira, album)
    take_pictures(album, mira, "before")
    switch(mira)
    expect_shown(mira.get_by_text("Two-factor is required of every member now."))
    try:
        take_pictures(album, mira, "after")
        follow_to_set_up(vera, album)
        set_up_app(vera)
        vera.goto("/library/")
        expect_shown(vera.get_by_role("heading", name="Library"))
        lacking = mira.locator("#security-two-factor li", has_text="Vera Costa")
        expect(lacking).to_have_count(0)  # without a reload
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
