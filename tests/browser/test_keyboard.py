"""A first video without a mouse: Tab, Enter, Space and the arrows, from the sign-in to the film."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl

MOST = 250  # presses of Tab until something is not reached
AT_IT = "(element) => element === document.activeElement"


def test_a_video_is_made_and_played_by_keyboard_alone(
    chromium: Browser, live_portal: LivePortal, sandbox_control: SandboxControl
) -> None:
    with chromium.new_context(base_url=live_portal.portal) as context:
        page, mira = context.new_page(), live_portal.person("Mira")
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


def test_the_credits_are_managed_by_keyboard_alone(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Thea").page
    page.goto("/budgets/")
    press(page, "main a[href='/budgets/new/']", "Enter")
    expect(page.locator("dialog [data-cancel]")).to_be_focused()
    write(page, "dialog select[name=who]", "The whole")
    write(page, "dialog input[name=hard]", "9000")
    page.keyboard.press("Enter")
    press(page, "#budgets a[href$='/limits/']", "Enter")
    press(page, "dialog [form=limits-end]", "Enter")
    expect(page.locator("#toasts")).to_contain_text("removed")
    page.goto("/ledger/")
    press(page, "#chip-direction", "ArrowDown")
    press(page, "#ledger-chips .chip__off", "Enter")
    expect(page.locator("#ledger-chips .chip--on")).to_have_count(0)
    page.goto("/top-up/")
    press(page, "main input[name=enabled]", "Space")
    press(page, "#top-up-form input[name=units]", "Space")
    press(page, "#top-up-form .btn--primary", "Enter")
    expect(page.locator("dialog [data-cancel]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


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


def write(page: Page, selector: str, words: str) -> None:
    reach(page, selector)
    page.keyboard.type(words)


def press(page: Page, selector: str, key: str) -> None:
    reach(page, selector)
    page.keyboard.press(key)


def reach(page: Page, selector: str) -> None:
    """Tab to it from wherever the focus is, as a person does."""
    wanted = page.locator(selector).first
    expect(wanted).to_be_attached()
    for _ in range(MOST):
        if wanted.evaluate(AT_IT):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by Tab")
