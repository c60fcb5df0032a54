"""A clip from a prompt and a picture, over the real processes of `make run`: priced, generated on a
phone, played, and the next one begun with its last frame."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl

PROMPT = "A paper boat crosses a flooded city square at dawn"


def test_a_clip_from_a_picture_is_priced_plays_and_gives_the_next_one_its_frame(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    luca, guest = open_member_page("Luca", has_touch=True), sandbox_control.create_account()
    luca.use_token_of(guest)
    page, picture = luca.page, tmp_path / "face.png"
    Image.new("RGB", (320, 180), (40, 90, 120)).save(picture)
    page.goto("/studio/clips/?draft=new")
    page.get_by_label("Prompt").fill(PROMPT)
    choose_model(page, "Tessera")
    expect(price_card(page)).to_contain_text("Tessera needs an image. Add one.")
    page.locator("[data-slot=image] input[type=file]").set_input_files(picture)
    expect(page.locator("[data-slot=image] img")).to_be_visible()
    wait_until_priced(page)
    assert sandbox_control.count_requests(guest, "GET", "/estimate") <= 3
    price = generate_on_a_phone(page)
    card = page.locator("#library .video").filter(has_text=PROMPT).first
    expect(card.get_by_role("button", name="Play")).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == price
    card.get_by_role("button", name="Play").click()
    expect_playing(card.locator("video.video__film"))
    choose_model(page, "Kestrel")
    expect(page.locator("#composer:not([data-unsaved])")).to_be_attached()
    card.hover()
    card.get_by_role("link", name="Actions for").click()
    page.locator("#video-menu").get_by_role("link", name="Use as frame").click()
    slot = page.locator("[data-slot=first_frame]")
    expect(slot.locator("img")).to_be_visible()
    expect(slot).to_contain_text("Last frame of “A paper boat")
    expect(page).not_to_have_url(re.compile("frame="))


def choose_model(page: Page, name: str) -> None:
    """The first wait is for a worker that reads the models of a new account."""
    page.get_by_role("radio", name=name).first.check(timeout=RENDERED_TIMEOUT_MS)
    expect(page.locator("#modifiers")).to_contain_text(f"what {name} offers")


def price_card(page: Page) -> Locator:
    return page.locator("[id^=clip-][id$=-price]")


def wait_until_priced(page: Page) -> None:
    """Of what the page shows: a change that waits to be saved has no price yet."""
    expect(page.locator("#composer:not([data-unsaved])")).to_be_attached()
    expect(price_card(page).locator(".card__note")).to_contain_text("exact")


def generate_on_a_phone(page: Page) -> int:
    """Confirm the exact price, from the bar at the bottom of a small screen; answers it in
    credits."""
    wide = page.viewport_size
    assert wide
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.scrollingElement.scrollWidth") == 390
    expect(page.locator("#clip-generate-bar")).to_be_in_viewport()
    page.locator("#clip-generate-bar").tap()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Generate this clip?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    price = int(dialog.locator(".btn__price").inner_text().split()[0])
    dialog.get_by_role("button", name="Generate").tap()
    page.wait_for_url("**/studio/clips/?draft=new")
    expect(page.locator("#toasts")).to_contain_text("is being generated")
    page.set_viewport_size(wide)
    page.evaluate("document.getElementById('recent-title').scrollIntoView()")
    return price
