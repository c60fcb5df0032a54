"""Storyboards that are started: scenes written by the service, or empty ones, over the real
processes of `make run`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl, SandboxGuest

TITLE = "Night train north"
DESCRIPTION = "A night train leaves a fjord station and arrives at first light by the glacier."
SCRIPT_CREDITS = 4
EDITOR = re.compile(r"/studio/storyboards/[0-9a-f-]{36}/(\?.*)?$")


@pytest.fixture
def guest(sandbox_control: SandboxControl) -> SandboxGuest:
    return sandbox_control.create_account()


@pytest.fixture
def luca(open_member_page: Callable[..., MemberPage], guest: SandboxGuest) -> MemberPage:
    member = open_member_page("Luca")
    member.use_token_of(guest)
    return member


def open_form(page: Page) -> None:
    page.goto("/studio/storyboards/")
    page.get_by_role("link", name="New storyboard").first.click()
    expect(page.get_by_role("radio", name="Marlow 02")).to_be_visible()


def submit(page: Page) -> None:
    page.locator("#start-button-card, #start-button-bar").locator("visible=true").click()


def scenes(page: Page) -> Locator:
    return page.locator("#scenes .board .scene")


def test_scenes_are_written_from_a_description_and_written_again(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    sandbox_control.change_settings(wizard_prompt_charged=True)
    page = luca.page
    open_form(page)
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Description").fill(DESCRIPTION)
    expect(page.locator("#id_description_limit")).to_have_text("15 words")
    page.locator("#id_scene_count").fill("4")
    page.get_by_role("button", name="One scene less").click()
    page.get_by_role("radio", name="Marlow 02").check()
    expect(page.locator("#start-formats")).to_contain_text("Only what Marlow 02 offers.")
    expect(page.locator("#start-later")).to_contain_text("3 clips of 6 or 10 s")
    submit(page)
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Write 3 scenes?")
    expect(dialog).to_contain_text(DESCRIPTION)
    dialog.get_by_role("button", name="Write 3 scenes").click()
    page.wait_for_url(EDITOR)
    expect(scenes(page)).to_have_count(3, timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == SCRIPT_CREDITS
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("link", name="Write the scenes").click()
    expect(dialog).to_contain_text("Write the scenes again?")
    expect(dialog).to_contain_text("This replaces 3 scenes.")
    expect(dialog.get_by_label("Description")).to_have_value(DESCRIPTION)
    dialog.locator("#id_scene_count").fill("2")
    dialog.get_by_role("button", name="Write").click()
    expect(scenes(page)).to_have_count(2, timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == 2 * SCRIPT_CREDITS
