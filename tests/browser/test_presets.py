"""A preset over the real processes: saved from a draft, renamed by keyboard, used and deleted."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, wait_until

REFRESHED = "document.body.dispatchEvent(new CustomEvent('reelroom:preset'))"
NAME = "נהרות"


def test_a_preset_is_saved_renamed_by_keyboard_used_and_deleted(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    page.goto(f"/studio/{luca.create_draft('How a river bends')}/visuals/")
    save_preset(page, "River films")
    page.goto("/studio/presets/")
    rename_by_keyboard(page)
    assert serious_violations(page) == []
    page.get_by_role("button", name=f"Use {NAME}").click()
    page.wait_for_url(re.compile(r"/studio/[\da-f-]{36}/\w+/$"))
    expect(page.locator("#needs")).to_contain_text(re.compile(r"To do:\s*Write or paste a script"))
    page.goto("/studio/presets/")
    open_menu(page, NAME, "Delete")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("The draft or video made with it stays.")
    dialog.get_by_role("button", name="Delete preset").click()
    expect(page.get_by_role("link", name=NAME, exact=True)).to_have_count(0)


def save_preset(page: Page, name: str) -> None:
    page.get_by_role("link", name="Save as preset").click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Save preset").click()
    expect(page.locator("#toasts")).to_contain_text(f"“{name}” was saved.")


def rename_by_keyboard(page: Page) -> None:
    """The field keeps the focus in a list that was refreshed meanwhile; Escape leaves it."""
    open_menu(page, "River films", "Rename")
    name = page.get_by_label("Name of the preset")
    expect(name).to_be_focused()
    page.keyboard.press("Escape")
    expect(name).to_have_count(0)
    page.evaluate("window.list = document.querySelector('#presets')")
    with hold_response(page, re.compile("renaming=")):
        open_menu(page, "River films", "Rename")
        page.evaluate(REFRESHED)  # as if somebody else had saved a preset
        wait_until(lambda: page.evaluate("window.list !== document.querySelector('#presets')"))
    expect(name).to_be_focused()
    name.fill(NAME)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=NAME, exact=True)).to_be_focused()


def open_menu(page: Page, name: str, item: str) -> None:
    page.get_by_label(f"More for {name}").click()
    page.locator("details[open]").get_by_text(item).click()
