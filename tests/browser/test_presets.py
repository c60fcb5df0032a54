"""Presets: saved from a draft, used, renamed by keyboard, and one whose voice is gone."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl, wait_until

REFRESHED = "document.body.dispatchEvent(new CustomEvent('reelroom:preset'))"


def test_a_name_is_changed_by_keyboard_and_a_preset_deleted(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    page.goto(f"/studio/{luca.create_draft('How a river bends')}/visuals/")
    save_preset(page, "Rivers")
    page.goto("/studio/presets/")
    open_menu(page, "Rivers", "Rename")
    name = page.get_by_label("Name of the preset")
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(name).to_have_count(0)
    page.evaluate("window.list = document.querySelector('#presets')")
    with hold_response(page, re.compile("renaming=")):
        open_menu(page, "Rivers", "Rename")
        page.evaluate(REFRESHED)  # as if somebody else had saved a preset
        wait_until(lambda: page.evaluate("window.list !== document.querySelector('#presets')"))
    expect(name).to_be_focused()
    page.keyboard.type("never saved")
    page.keyboard.press("Escape")
    expect(name).to_have_count(0)
    open_menu(page, "Rivers", "Rename")
    name.fill("נהרות")
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="נהרות", exact=True)
    expect(link).to_be_focused()
    open_menu(page, "נהרות", "Delete")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("It was not used yet.")
    dialog.get_by_role("button", name="Delete preset").click()
    expect(link).to_have_count(0)


def save_preset(page: Page, name: str) -> None:
    page.get_by_role("link", name="Save as preset").click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Save preset").click()
    expect(page.locator("#toasts")).to_contain_text(f"“{name}” was saved.")


def open_menu(page: Page, name: str, item: str) -> None:
    page.get_by_label(f"More for {name}").click()
    page.locator("details[open]").get_by_text(item).click()
