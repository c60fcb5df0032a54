"""A storyboard from a description to its film, over the real processes: what was confirmed is
what is charged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl
from tests.browser.test_storyboard_editor import ENGINE, PROMPTS, chain, pick, tiles, write_scene

TITLE = "Night train north"
DESCRIPTION = "A night train leaves a fjord station and arrives at first light by the glacier."
SCRIPT_CREDITS = 4


def test_a_storyboard_from_a_description_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.change_settings(wizard_prompt_charged=True, render_seconds=2)
    page = luca.page
    write_scenes(page)
    expect(tiles(page)).to_have_count(2, timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == SCRIPT_CREDITS
    get_price(page)
    pick(page, 2)
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.locator("#board-said")).to_contain_text("Scene 2 is now scene 1 of 2.")
    get_price(page)
    write_scene(page, PROMPTS[0])  # what the service wrote takes no more scenes: it gets a new copy
    chain(page, 3)
    add_frame(page, 1, tmp_path / "dawn.png")
    confirm(page, "Generate 3 clips")
    expect(page.locator("#needs")).to_contain_text("nothing left", timeout=RENDERED_TIMEOUT_MS)
    price = confirm(page, "Render")
    expect(page.locator("#render")).to_contain_text("Open the film", timeout=RENDERED_TIMEOUT_MS)
    assert f"{sandbox_control.spent_credits(guest) - SCRIPT_CREDITS} cr" == price
    page.get_by_role("link", name="Open the film").click()
    expect_playing(page.locator("video.player__film"))


def write_scenes(page: Page) -> None:
    """Two scenes, written by the service from a description."""
    page.goto("/studio/storyboards/")
    page.get_by_role("link", name="New storyboard").first.click()
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Description").fill(DESCRIPTION)
    expect(page.locator("#id_description_limit")).to_have_text("15 words")
    page.locator("#id_scene_count").fill("3")
    page.get_by_role("button", name="One scene less").click()
    page.get_by_role("radio", name=ENGINE, exact=False).first.check(timeout=RENDERED_TIMEOUT_MS)
    expect(page.locator("#start-formats")).to_contain_text(f"Only what {ENGINE} offers.")
    page.locator("#start-button-card, #start-button-bar").locator("visible=true").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Write 2 scenes?")
    expect(dialog).to_contain_text(DESCRIPTION)
    dialog.get_by_role("button", name="Write 2 scenes").click()
    page.wait_for_url("**/studio/storyboards/*-*/**")


def get_price(page: Page) -> None:
    page.get_by_role("button", name="Get the exact price").click()
    expect(page.locator("#render")).to_contain_text("exact", timeout=RENDERED_TIMEOUT_MS)


def add_frame(page: Page, number: int, picture: Path) -> None:
    Image.new("RGB", (320, 180), (40, 90, 120)).save(picture)
    pick(page, number)
    page.locator("#slot-last_frame input[type=file]").set_input_files(picture)
    expect(page.locator("#slot-last_frame img")).to_be_visible()


def confirm(page: Page, label: str) -> str:
    """Press a priced button of the rail, then that of its question; answers the price."""
    page.locator("#rail .btn--primary").locator("visible=true").filter(has_text=label).first.click(
        timeout=RENDERED_TIMEOUT_MS
    )
    button = page.locator("dialog[open]").get_by_role("button", name=label)
    expect(button).to_be_visible()
    text = button.locator(".btn__price").all_inner_texts()
    button.click()
    page.wait_for_url("**/studio/storyboards/*-*/**")
    expect(page.locator("dialog[open]")).to_have_count(0)
    return text[0].strip() if text else ""
