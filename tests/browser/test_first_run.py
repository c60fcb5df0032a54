"""`DEMO=none make run`: from nothing to the first film, and then a new encryption key.

One person sets the installation up with the code of its log, makes a video at once, and rotates the
key after a restart. A stranger without JavaScript comes too early and too late.
"""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, ViewportSize, expect

from proxyapi.credentials.encryption import generate_encryption_key
from tests.browser.media import expect_playing
from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal, free_ports, portal_context
from tests.browser.screenshots import ScreenshotAlbum
from tests.browser.test_first_video import create_video

CODE = re.compile(r"set-up code ([2-9A-Z]{4}-[2-9A-Z]{4})")
OLD_KEY, NEW_KEY = f"k1:{generate_encryption_key()}", f"k2:{generate_encryption_key()}"
PASSWORD = "a lantern over the ice"
WIDE = ViewportSize(width=1440, height=900)
# Milliseconds on two busy cores: for an answer, and for a film.
FILM_WITHIN = 120_000


def printed_codes(portal: LivePortal) -> list[str]:
    return [found[1] for line in list(portal.lines) if (found := CODE.search(line))]


def fill_owner(page: Page, code: str) -> None:
    page.get_by_label("Set-up code").fill(code)
    page.get_by_label("Team").fill("Northlight")
    page.get_by_label("Time zone").select_option("Europe/Stockholm")
    page.get_by_label("Your name").fill("Mira Sandvik")
    page.get_by_label("E-mail").fill("mira@northlight.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def come_without_javascript(chromium: Browser, portal: LivePortal, answer: str) -> None:
    """A stranger guesses the code."""
    with chromium.new_context(base_url=portal.portal, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/library/")
        assert page.url.endswith("/setup/")
        if page.get_by_label("Set-up code").count():
            fill_owner(page, "AAAA-AAAA")
        expect(page.get_by_text(answer).first).to_be_visible()


def set_up(page: Page, code: str, album: ScreenshotAlbum) -> None:
    page.goto("/")
    expect(page.get_by_label("Set-up code")).to_be_focused()
    assert serious_violations(page) == []
    album.take(page, "setup-owner")
    fill_owner(page, code)
    expect(page.get_by_text("Use the sandbox")).to_be_visible()
    assert serious_violations(page) == []
    album.take(page, "setup-service")
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("Connected to Northlight.")).to_be_visible()
    album.take(page, "setup-connected")
    page.get_by_role("link", name="Continue").click()
    page.get_by_label("E-mail addresses").fill("jonas@northlight.example")
    assert serious_violations(page) == []
    album.take(page, "setup-team")
    page.get_by_role("button", name="Send and finish").click()
    expect(page.locator("#overview-getting_started")).to_contain_text("1 of 3 done")
    assert serious_violations(page) == []
    album.take(page, "overview-start")


def rotate_key(page: Page, album: ScreenshotAlbum) -> None:
    """The card changes by itself when the worker is done."""
    page.goto("/operations/")
    page.locator("#ops-keys").get_by_role("button", name="Rotate").click()
    dialog = page.get_by_role("dialog", name="Encrypt every secret with k2?")
    expect(dialog).to_be_visible()
    assert serious_violations(page) == []
    album.take(page, "rotation-dialog")
    if dialog.get_by_label("Your password").count():
        dialog.get_by_label("Your password").fill(PASSWORD)
    dialog.get_by_role("button", name="Rotate").click()
    card = page.locator("#ops-keys")
    expect(card).to_contain_text("secrets of the installation under k2")
    expect(card.locator(".pill")).to_contain_text("Rotated")
    expect(card).to_contain_text("Every secret is under the new key already.")
    album.take(page, "rotation-done")


def test_an_installation_is_set_up_from_nothing_to_the_first_film_and_a_new_key(
    tmp_path: Path, chromium: Browser, album: ScreenshotAlbum
) -> None:
    ports = free_ports()
    with portal_context(tmp_path, ports, DEMO="none", ENCRYPTION_KEYS=OLD_KEY) as portal:
        (code,) = printed_codes(portal)
        come_without_javascript(chromium, portal, "This is not the newest set-up code")
        with chromium.new_context(base_url=portal.portal, viewport=WIDE) as context:
            page = context.new_page()
            set_up(page, code, album)
            create_video(page)
            expect(page.locator(".player video")).to_be_attached(timeout=FILM_WITHIN)
            expect_playing(page.locator(".player video"))
            page.goto("/")
            expect(page.locator("#overview-getting_started")).to_contain_text("2 of 3 done")
            state = context.storage_state()
        assert sum(code in line for line in portal.lines) == 1
    both = f"{NEW_KEY},{OLD_KEY}"
    with portal_context(tmp_path, ports, DEMO="none", ENCRYPTION_KEYS=both) as portal:
        assert printed_codes(portal) == []
        with chromium.new_context(
            base_url=portal.portal, viewport=WIDE, storage_state=state
        ) as context:
            rotate_key(context.new_page(), album)
