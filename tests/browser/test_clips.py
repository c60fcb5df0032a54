"""Clips from a prompt, over the real processes of `make run`: one of each family of models."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl, SandboxGuest
from tests.dashboard.clips.test_prompt_words import PROMPTS

PROMPT = "A paper boat crosses a flooded city square at dawn"
FAST_CLIPS = {"clip_seconds": 1, "clip_seconds_per_second": 0}
MODELS_TIMEOUT_MS = 100_000  # the options and models of an account are read by a worker
PLAYS = "film => film.readyState > 2 && !film.error"


@pytest.fixture
def guest(sandbox_control: SandboxControl) -> SandboxGuest:
    return sandbox_control.create_account()


@pytest.fixture
def luca(open_member_page: Callable[..., MemberPage], guest: SandboxGuest) -> MemberPage:
    member = open_member_page("Luca")
    member.use_token_of(guest)
    return member


def open_composer(page: Page) -> None:
    page.goto("/studio/clips/?draft=new")
    expect(page.get_by_role("radio", name="Kestrel Voice")).to_be_visible(timeout=MODELS_TIMEOUT_MS)


def choose_model(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).first.check()
    expect(page.locator("#modifiers")).to_contain_text(f"what {name} offers")


def write_prompt(page: Page, text: str) -> None:
    page.get_by_label("Prompt").fill(text)


def price_card(page: Page) -> Locator:
    return page.locator("[id^=clip-][id$=-price]")


def generate(page: Page) -> int:
    """Confirm the exact price; answers it in credits."""
    page.locator("#clip-generate-card, #clip-generate-bar").locator("visible=true").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Generate this clip?")
    price = int(dialog.locator(".btn__price").inner_text().split()[0])
    dialog.get_by_role("button", name="Generate").click()
    page.wait_for_url("**/studio/clips/?draft=new")
    expect(page.locator("#toasts")).to_contain_text("is being generated")
    page.evaluate("document.getElementById('recent-title').scrollIntoView()")
    return price


def card_of(page: Page, title: str) -> Locator:
    return page.locator("#library .video").filter(has_text=title).first


def wait_until_priced(page: Page) -> None:
    """Of what the page shows: a change that waits to be saved has no price yet."""
    expect(page.locator("#composer:not([data-unsaved])")).to_be_attached()
    expect(price_card(page).locator(".card__note")).to_contain_text("exact")


@pytest.mark.parametrize(
    ("model", "option"),
    [
        ("Brook Lite", ""),
        ("Marlow 02", "512P"),
        ("Kestrel Voice", "1080p"),
        ("Halden Max", "21:9"),
    ],
)
def test_a_clip_of_each_family_costs_what_was_shown_and_plays(
    model: str,
    option: str,
    luca: MemberPage,
    guest: SandboxGuest,
    sandbox_control: SandboxControl,
) -> None:
    sandbox_control.change_settings(**FAST_CLIPS)
    page = luca.page
    open_composer(page)
    title = f"{PROMPT}, {model}"
    write_prompt(page, title)
    choose_model(page, model)
    if option:
        page.locator("#modifiers").get_by_text(option, exact=True).click()
    wait_until_priced(page)
    price = generate(page)
    card = card_of(page, title)
    play = card.get_by_role("button", name="Play")
    expect(play).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == price
    play.click()
    film = card.locator("video.video__film")
    expect(film).to_be_visible()
    page.wait_for_function(PLAYS, arg=film.element_handle())


def test_a_required_picture_is_uploaded_and_a_frame_is_taken_from_another_clip(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    sandbox_control.change_settings(**FAST_CLIPS)
    page, picture = luca.page, tmp_path / "face.png"
    Image.new("RGB", (320, 180), (40, 90, 120)).save(picture)
    open_composer(page)
    write_prompt(page, f"{PROMPT}, held by a face")
    choose_model(page, "Tessera")
    expect(price_card(page)).to_contain_text("Tessera needs an image. Add one.")
    page.locator("[data-slot=image] input[type=file]").set_input_files(picture)
    expect(page.locator("[data-slot=image] img")).to_be_visible()
    wait_until_priced(page)
    generate(page)
    expect(card_of(page, "held by a face").get_by_role("button", name="Play")).to_be_visible(
        timeout=RENDERED_TIMEOUT_MS
    )
    choose_model(page, "Kestrel")
    page.locator("[data-slot=first_frame]").get_by_role("link", name="From the library").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("radio").first.check()
    dialog.get_by_role("button", name="Use last frame").click()
    expect(page.locator("[data-slot=first_frame] img")).to_be_visible()
    page.locator("[data-slot=first_frame]").get_by_role("button", name="Remove").click()
    expect(page.locator("[data-slot=first_frame] input[type=file]")).to_be_attached()


@pytest.fixture
def finished(luca: MemberPage, sandbox_control: SandboxControl) -> Locator:
    """The card of a finished clip of Brook Lite, which takes no frames."""
    sandbox_control.change_settings(**FAST_CLIPS)
    page = luca.page
    open_composer(page)
    write_prompt(page, f"{PROMPT}, to go on from")
    choose_model(page, "Brook Lite")
    wait_until_priced(page)
    generate(page)
    card = card_of(page, "to go on from")
    expect(card.get_by_role("button", name="Play")).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    return card


def open_menu(card: Locator) -> Locator:
    card.hover()
    card.get_by_role("link", name="Actions for").click()
    return card.page.locator("#video-menu")


def test_the_newest_clips_are_filtered_in_the_url(luca: MemberPage, finished: Locator) -> None:
    page = luca.page
    page.locator("#chip-state").select_option("failed")
    expect(page.locator("#library")).to_contain_text("No clips match")
    expect(page).to_have_url(re.compile(r"state=failed"))
    page.get_by_role("link", name="Clear all filters").click()
    expect(finished).to_be_visible()
    expect(page).not_to_have_url(re.compile(r"state="))
    page.locator("#chip-model").select_option("brook-lite")
    expect(page).to_have_url(re.compile(r"model=brook-lite"))
    page.reload()
    expect(finished).to_be_visible()
    page.get_by_role("link", name="Model: clear filter").click()
    expect(page).not_to_have_url(re.compile(r"model="))
    expect(page.get_by_label("Prompt")).to_be_visible()


def test_a_finished_clip_starts_the_next_one(luca: MemberPage, finished: Locator) -> None:
    page = luca.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_menu(finished).get_by_role("button", name="Copy prompt").click()
    expect(page.locator("#video-menu")).to_contain_text("Copied")
    page.locator("#video-menu").get_by_role("link", name="Use as frame").click()
    expect(page.locator("#clip-refusal")).to_contain_text("Brook Lite takes no frames.")
    page.locator("#id_prompt").press("Control+V")
    expect(page.locator("#id_prompt")).to_have_value(f"{PROMPT}, to go on from")
    choose_model(page, "Kestrel")
    expect(page.locator("#composer:not([data-unsaved])")).to_be_attached()
    page.evaluate("document.getElementById('recent-title').scrollIntoView()")
    expect(finished).to_be_visible()
    open_menu(finished).get_by_role("link", name="Use as frame").click()
    slot = page.locator("[data-slot=first_frame]")
    expect(slot.locator("img")).to_be_visible()
    expect(slot).to_contain_text("Last frame of “A paper boat")
    expect(page).not_to_have_url(re.compile("frame="))


def test_the_counter_beside_the_prompt_counts_as_the_service_does(luca: MemberPage) -> None:
    page = luca.page
    open_composer(page)
    for text, words in PROMPTS.values():
        write_prompt(page, text)
        expect(page.locator("#id_prompt_limit")).to_have_text(f"{words:,} of 1,500 words")


def test_by_keyboard_the_price_question_opens_and_the_focus_starts_on_cancel(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    page = luca.page
    open_composer(page)
    choose_model(page, "Halden")
    area = page.get_by_label("Prompt")
    area.focus()
    page.keyboard.type(f"{PROMPT} seen from above")
    page.keyboard.press("Control+Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("seen from above")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.locator("[name=duration][value='8']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[name=duration][value='6']")).to_be_checked()
    wait_until_priced(page)
    assert sandbox_control.count_requests(guest, "GET", "/estimate") <= 4
    assert sandbox_control.spent_credits(guest) == 0


def test_on_a_phone_the_button_stays_in_the_bar_and_the_clip_is_made(
    open_member_page: Callable[..., MemberPage],
    guest: SandboxGuest,
    sandbox_control: SandboxControl,
) -> None:
    sandbox_control.change_settings(**FAST_CLIPS)
    luca = open_member_page("Luca", viewport={"width": 390, "height": 844}, has_touch=True)
    luca.use_token_of(guest)
    page = luca.page
    open_composer(page)
    write_prompt(page, f"{PROMPT} on a phone")
    wait_until_priced(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    expect(page.locator("#clip-generate-bar")).to_be_in_viewport()
    generate(page)
    expect(card_of(page, "on a phone")).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
