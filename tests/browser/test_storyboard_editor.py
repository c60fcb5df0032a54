"""The storyboard editor, over the real processes: by keyboard, by pointer, on a phone, and two
people in one storyboard."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl

PROMPTS = (
    "Wide, locked: the night train crosses a still fjord under a crescent moon",
    "Close on lit windows gliding past, their reflections trembling",
    "The nose of the engine, its lamp sweeping over black water",
    "The camera rises from the lamp, over the roof, and finds the moon",
    "Aurora opens above the ridge, the train a thin line of light below",
)
ENGINE = "Kestrel"  # it takes a first and a last frame


def test_scenes_are_arranged_by_keyboard_and_pointer_and_by_two_people(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca", has_touch=True)
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    address = start_storyboard(page, "Night train north")
    for prompt in PROMPTS[:4]:
        write_scene(page, prompt)
    chain(page, 3)
    arrange_by_keyboard(page)
    drag_to_the_front(page, 3)
    move_down_on_a_phone(page)
    pick(page, 1)
    theirs = open_member_page("Priya").page
    theirs.goto(address)
    expect(theirs.locator("#editor-note")).to_contain_text("Luca is editing scene 1.")
    write_against_each_other(page, theirs)
    page.goto(address)
    expect(page.get_by_label("Video prompt")).to_have_value("Luca's first words and Priya's")


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


def arrange_by_keyboard(page: Page) -> None:
    """Scene 4 is moved with its focus, which parts a chain; that is undone, and scene 4 deleted."""
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


def drag_to_the_front(page: Page, number: int) -> None:
    page.locator(".grip").nth(number - 1).hover()
    page.mouse.down()
    first = tiles(page).first.bounding_box()
    assert first
    page.mouse.move(first["x"] + 4, first["y"] + 20, steps=8)
    expect(page.locator("[data-drop]")).to_have_count(1)
    page.mouse.up()
    expect(page.locator("#board-said")).to_contain_text("Scene 3 is now scene 1 of 3.")
    assert words_of(page)[0] == PROMPTS[2][:12]


def move_down_on_a_phone(page: Page) -> None:
    """The strip is a list there, and a tap shows the panel."""
    wide = page.viewport_size
    assert wide
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    tiles(page).first.tap()
    expect(page.locator("#panel-title")).to_have_text("Scene 1")
    expect(page.locator("#panel-title")).to_be_in_viewport()
    page.locator(".grip").first.tap()
    page.get_by_role("button", name="Move down").tap()
    expect(page.locator("#board-said")).to_contain_text("Scene 1 is now scene 2 of 3.")
    page.set_viewport_size(wide)


def write_against_each_other(page: Page, theirs: Page) -> None:
    """What Luca saves arrives while Priya only reads; while she writes nothing is overwritten."""
    area = theirs.get_by_label("Video prompt")
    page.get_by_label("Video prompt").fill("Luca's first words")
    wait_until_saved(page)
    expect(area).to_have_value("Luca's first words")
    area.press("Control+End")
    page.get_by_label("Video prompt").fill("Luca's second words")
    wait_until_saved(page)
    area.press_sequentially(" and Priya's")
    refusal = theirs.locator("#refusal")
    expect(refusal).to_contain_text("Luca changed this prompt at")
    expect(area).to_have_value("Luca's first words and Priya's")
    refusal.get_by_role("button", name="Keep mine").click()
    expect(refusal).to_be_hidden()
