"""A first video without a mouse: Tab, Enter, Space and the arrows, from the sign-in to the film."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.keyboard import press, write
from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.portal_process import LivePortal
from tests.browser.ready_pages import new_page
from tests.browser.sandbox_control import SandboxControl


def test_a_video_is_made_and_played_by_keyboard_alone(
    chromium: Browser, live_portal: LivePortal, sandbox_control: SandboxControl
) -> None:
    with chromium.new_context(base_url=live_portal.portal, reduced_motion="reduce") as context:
        page, mira = new_page(context), live_portal.person("Mira")
        page.goto("/")
        write(page, "input[name=login]", mira.email)
        write(page, "input[name=password]", mira.password)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{live_portal.portal}/")
        press(page, ".sidebar a[href='/tokens/']", "Enter")
        write(page, "input[name=token]", sandbox_control.create_account().token)
        page.keyboard.press("Enter")
        expect(page.locator(".toast")).to_be_visible()
        press(page, ".sidebar a[href='/studio/']", "Enter")
        fill_the_draft(page)
        press(page, "aside .btn--primary", "Enter")
        expect(page.locator("dialog [data-cancel]")).to_be_focused()
        press(page, "dialog .btn--primary", "Enter")
        page.wait_for_url("**/videos/**")
        expect(page.locator(".player video")).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
        press(page, ".player [data-play]", "Space")
        expect(page.locator(".player video")).to_have_js_property("paused", False)


def fill_the_draft(page: Page) -> None:
    write(page, "textarea[name=start]", "Ice moves. It carries stones from the mountains.")
    press(page, "#id_start_help button", "Enter")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a script")
    press(page, "#quick .btn--primary", "Enter")
    press(page, "#steps a[href$='/type/']", "Enter")
    write(page, "input[name=title]", "Without a mouse, ")
    press(page, "input[name=aspect_ratio]:checked", "ArrowRight")
    go_on(page, "script")
    go_on(page, "voice")
    press(page, "input[name=voice_id]", "Space")
    go_on(page, "visuals")
    press(page, "input[name=genre_id]", "Space")
    go_on(page, "captions")
    go_on(page, "review")


def go_on(page: Page, step: str) -> None:
    press(page, ".actbar [form=step]", "Enter")
    page.wait_for_url(re.compile(f"/{step}/$"))
