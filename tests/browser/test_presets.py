"""Presets: saved from a draft, used, renamed by keyboard, and one whose voice is gone."""

from __future__ import annotations

import re
from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest, wait_until

CLONE = "Marlene Voss"
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40)
REFRESHED = "document.body.dispatchEvent(new CustomEvent('reelroom:preset'))"
CLONE_SECONDS = 15.0  # the sandbox's default


def test_a_preset_from_a_draft_to_a_replacement(
    open_member_page: Callable[..., MemberPage],
    sandbox_control: SandboxControl,
    live_portal: LivePortal,
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    clone_voice(live_portal, sandbox_control, guest)
    luca.use_token_of(guest)
    save_with_clone(luca, "Tide series")
    page = luca.page
    use_preset(page, "Tide series")
    expect(page.locator("#steps")).to_contain_text(CLONE)
    # A clone is on one account only: with its token gone, nobody offers it.
    luca.remove_tokens()
    luca.use_token_of(sandbox_control.create_account())
    page.goto("/studio/presets/")
    page.get_by_role("button", name="Compare now").click()
    row = page.locator("tr", has_text="Tide series")
    expect(row.locator(".gone")).to_have_text(CLONE)
    drift = page.locator("tr.drift", has_text=CLONE)
    expect(drift).to_contain_text("no longer offered by the service")
    replace = drift.get_by_role("button", name="Replace with")
    nearest = replace.inner_text().removeprefix("Replace with ")
    replace.click()
    expect(drift).to_have_count(0)
    expect(row).to_contain_text(nearest)
    use_preset(page, "Tide series")
    expect(page.locator("#steps")).to_contain_text(nearest)


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


def test_the_brand_kit_is_set_and_switched_in_a_draft(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    mira = open_member_page("Mira")
    mira.use_token_of(sandbox_control.create_account())
    page = mira.page
    page.goto(f"/studio/{mira.create_draft('The last lighthouse')}/captions/")
    page.get_by_role("link", name="Set up a brand kit").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("Font").select_option(label="Condensed")
    dialog.get_by_label("New drafts start with the kit").uncheck()
    dialog.get_by_role("button", name="Save the kit").click()
    expect(page.locator("#kit-line")).to_contain_text("Font Condensed")
    switch = page.get_by_role("switch", name="Use the brand kit in this draft")
    switch.click()
    expect(page.locator("#kit-line")).to_contain_text("Font Condensed, from the brand kit")
    page.get_by_label("Font", exact=True).select_option(label="Mono")
    expect(page.locator("#kit-line")).to_contain_text("Font Mono, from you")
    switch.click()
    expect(switch).not_to_be_checked()
    expect(page.get_by_label("Font", exact=True)).to_have_value("mono")


def clone_voice(portal: LivePortal, control: SandboxControl, guest: SandboxGuest) -> None:
    """Give the account a finished voice clone, through the API."""
    control.change_settings(clone_seconds=0)
    api = {"Authorization": f"Bearer {guest.token}", "Accept": "application/json"}
    try:
        with httpx.Client(base_url=portal.sandbox, headers=api, trust_env=False) as http:
            form = {"terms": "1", "name": CLONE, "gender": "female"}
            files = [("samples[]", ("voice.wav", WAV, "audio/wav"))]
            made = http.post("/v2/voice-clones", data=form, files=files)
            assert made.is_success, made.text
            path = f"/v2/voice-clones/{made.json()['data']['id']}"
            wait_until(lambda: http.get(path).json()["data"]["status"] == "completed")
    finally:
        control.change_settings(clone_seconds=CLONE_SECONDS)


def save_with_clone(luca: MemberPage, name: str) -> None:
    page = luca.page
    page.goto(f"/studio/{luca.create_draft('The slow tide')}/voice/")
    page.get_by_role("radio", name=CLONE).check(force=True)
    expect(page.locator("#steps")).to_contain_text(CLONE)
    save_preset(page, name)


def save_preset(page: Page, name: str) -> None:
    page.get_by_role("link", name="Save as preset").click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Save preset").click()
    expect(page.locator("#toasts")).to_contain_text(f"“{name}” was saved.")


def use_preset(page: Page, name: str) -> None:
    page.goto("/studio/presets/")
    page.get_by_role("button", name=f"Use {name}").click()
    page.wait_for_url(re.compile(r"/studio/[\da-f-]{36}/\w+/$"))


def open_menu(page: Page, name: str, item: str) -> None:
    page.get_by_label(f"More for {name}").click()
    page.locator("details[open]").get_by_text(item).click()
