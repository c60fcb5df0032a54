"""The storyboard editor, over the real processes: scenes by hand, by keyboard and pointer, and two
people in one storyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, SandboxGuest

PROMPTS = (
    "Wide, locked: the night train crosses a still fjord under a crescent moon",
    "Close on lit windows gliding past, their reflections trembling",
    "The nose of the engine, its lamp sweeping over black water",
    "The camera rises from the lamp, over the roof, and finds the moon",
    "Aurora opens above the ridge, the train a thin line of light below",
)
ENGINE = "Kestrel"  # it takes a first and a last frame


@pytest.fixture
def guest(sandbox_control: SandboxControl) -> SandboxGuest:
    return sandbox_control.create_account()


@pytest.fixture
def luca(open_member_page: Callable[..., MemberPage], guest: SandboxGuest) -> MemberPage:
    member = open_member_page("Luca")
    member.use_token_of(guest)
    return member


def start_storyboard(page: Page, title: str) -> str:
    """Start one with empty scenes; answer its address."""
    page.goto("/studio/storyboards/new/")
    page.get_by_label("Title").fill(title)
    page.get_by_role("radio", name="Empty scenes").check()
    page.get_by_role("radio", name=ENGINE, exact=False).first.check()
    page.get_by_role("button", name="Create storyboard").locator("visible=true").click()
    page.wait_for_url("**/studio/storyboards/*-*/**")
    expect(page.locator("#live")).to_have_attribute("data-state", "open")
    return page.url.split("?")[0]


def write_scene(page: Page, prompt: str) -> None:
    """Write the first scene, which is there, or add one: the focus is in its prompt then."""
    area = page.get_by_label("Video prompt")
    if area.input_value():
        page.get_by_role("button", name="Add scene").click()
        expect(area).to_have_value("")
        expect(area).to_be_focused()
    area.focus()
    page.keyboard.type(prompt)
    wait_until_saved(page)
    expect(page.locator(".scene[aria-current] .scene__words")).to_contain_text(prompt[:20])


def wait_until_saved(page: Page) -> None:
    expect(page.locator("#scene-form:not([data-unsaved])")).to_be_attached()


def tiles(page: Page) -> Locator:
    return page.locator("[data-board] .scene")


def words_of(page: Page) -> list[str]:
    return [text.strip()[:12] for text in page.locator(".scene__words").all_inner_texts()]


def pick(page: Page, number: int) -> None:
    tiles(page).nth(number - 1).click()
    expect(page.locator("#panel-title")).to_have_text(f"Scene {number}")


def chain(page: Page, number: int) -> None:
    pick(page, number)
    page.get_by_role("switch", name=f"Continues from scene {number - 1}").check()
    expect(tiles(page).nth(number - 1)).to_have_class("scene scene--chained")
    wait_until_saved(page)


def test_five_scenes_by_hand_two_chained_and_one_with_a_frame(
    luca: MemberPage, tmp_path: Path
) -> None:
    page, picture = luca.page, tmp_path / "dawn.png"
    Image.new("RGB", (320, 180), (40, 90, 120)).save(picture)
    address = start_storyboard(page, "Night train north")
    for prompt in PROMPTS:
        write_scene(page, prompt)
    chain(page, 2)
    chain(page, 4)
    expect(page.locator("#slot-first_frame")).to_contain_text("Last frame of scene 3")
    pick(page, 5)
    page.locator("#slot-last_frame input[type=file]").set_input_files(picture)
    expect(page.locator("#slot-last_frame img")).to_be_visible()
    page.locator("#id_duration label").last.click()
    wait_until_saved(page)
    page.goto(address)
    assert words_of(page) == [prompt[:12] for prompt in PROMPTS]
    expect(page.locator(".scene--chained")).to_have_count(2)
    expect(page.locator("#editor-note")).to_contain_text("5 scenes, 0 ready.")
    assert serious_violations(page) == []


def test_by_keyboard_scenes_are_picked_and_moved_with_the_focus_on_them(luca: MemberPage) -> None:
    page = luca.page
    start_storyboard(page, "By keyboard")
    for prompt in PROMPTS[:4]:
        write_scene(page, prompt)
    chain(page, 3)
    tiles(page).first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-title")).to_have_text("Scene 2")
    page.keyboard.press("End")
    expect(page.locator("#panel-title")).to_have_text("Scene 4")
    expect(tiles(page).nth(3)).to_be_focused()
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.locator("#board-said")).to_contain_text("Scene 4 is now scene 3 of 4.")
    expect(page.locator("#board-said")).to_contain_text("Scene 3 no longer continues")
    expect(tiles(page).nth(2)).to_be_focused()
    assert words_of(page)[2] == PROMPTS[3][:12]
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator("#toasts")).to_contain_text("The change was undone.")
    expect(page.locator(".scene--chained")).to_have_count(1)
    page.locator(".grip").nth(3).focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Delete scene").click()
    expect(tiles(page)).to_have_count(3)


def test_a_scene_is_dragged_by_its_grip(luca: MemberPage) -> None:
    page = luca.page
    start_storyboard(page, "By pointer")
    for prompt in PROMPTS[:3]:
        write_scene(page, prompt)
    page.locator(".grip").nth(2).hover()
    page.mouse.down()
    first = tiles(page).first.bounding_box()
    assert first
    page.mouse.move(first["x"] + 4, first["y"] + 20, steps=8)
    expect(page.locator("[data-drop]")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#board-said")).to_contain_text("Scene 3 is now scene 1 of 3.")
    assert words_of(page)[0] == PROMPTS[2][:12]


def test_two_people_see_each_other_and_never_overwrite(
    luca: MemberPage, open_member_page: Callable[..., MemberPage]
) -> None:
    page = luca.page
    address = start_storyboard(page, "Together")
    for prompt in PROMPTS[:2]:
        write_scene(page, prompt)
    pick(page, 1)
    theirs = open_member_page("Priya").page
    theirs.goto(address)
    expect(theirs.locator("#editor-note")).to_contain_text("Luca is editing scene 1.")
    page.get_by_label("Video prompt").fill("Luca's first words")
    wait_until_saved(page)
    expect(theirs.get_by_label("Video prompt")).to_have_value("Luca's first words")
    area = theirs.get_by_label("Video prompt")
    area.press("Control+End")
    page.get_by_label("Video prompt").fill("Luca's second words")
    wait_until_saved(page)
    area.press_sequentially(" and Priya's")
    refusal = theirs.locator("#refusal")
    expect(refusal).to_contain_text("Luca changed this prompt at")
    expect(area).to_have_value("Luca's first words and Priya's")
    refusal.get_by_role("button", name="Keep mine").click()
    expect(refusal).to_be_hidden()
    page.goto(address)
    expect(page.get_by_label("Video prompt")).to_have_value("Luca's first words and Priya's")


def test_on_a_phone_the_strip_is_a_list_and_a_tap_shows_the_panel(
    open_member_page: Callable[..., MemberPage], guest: SandboxGuest
) -> None:
    luca = open_member_page("Luca", viewport={"width": 390, "height": 844}, has_touch=True)
    luca.use_token_of(guest)
    page = luca.page
    start_storyboard(page, "On a phone")
    for prompt in PROMPTS[:3]:
        write_scene(page, prompt)
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    tiles(page).first.tap()
    expect(page.locator("#panel-title")).to_have_text("Scene 1")
    expect(page.locator("#panel-title")).to_be_in_viewport()
    page.locator(".grip").first.tap()
    page.get_by_role("button", name="Move down").click()
    expect(page.locator("#board-said")).to_contain_text("Scene 1 is now scene 2 of 3.")
