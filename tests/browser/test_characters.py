"""A character from a photo to a film, over the real processes."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.media import expect_loaded
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl

MAKER_TAG = 0x010F  # of Exif
COUNTED_TIMEOUT_MS = 70_000  # for a preview that the limit delays
UUID_TEXT = re.compile(r"[0-9a-f-]{36}")
# The options are read again at once, or within a minute if the token has no request left.
OFFERED_TIMEOUT_MS = 100_000


def portrait_file(
    name: str = "maja-portrait.jpg", size: tuple[int, int] = (640, 800)
) -> FilePayload:
    """A JPEG with the maker of the camera in its metadata."""
    image, drawing = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.ImageDraw")
    picture = image.new("RGB", size, (196, 208, 214))
    draw = drawing.Draw(picture)
    wide, high = size
    draw.ellipse((wide * 0.28, high * 0.2, wide * 0.72, high * 0.7), fill=(222, 178, 150))
    draw.rectangle((wide * 0.2, high * 0.78, wide * 0.8, high), fill=(52, 98, 84))
    exif, file = image.Exif(), io.BytesIO()
    exif[MAKER_TAG] = "Secret Camera"
    picture.save(file, "JPEG", quality=90, exif=exif)
    return {"name": name, "mimeType": "image/jpeg", "buffer": file.getvalue()}


def start_character(page: Page) -> None:
    """From the gallery to the genres, with a photo."""
    page.goto("/characters/")
    page.get_by_role("link", name="New character").first.click()
    page.locator("input[type=file]").set_input_files(portrait_file())
    page.get_by_label("I may use this photo").check()
    page.get_by_role("button", name="Next: Genre").click()
    expect(page.get_by_text("How is it drawn?")).to_be_visible()


def round_pictures(page: Page, number: int) -> Locator:
    return page.locator(f"#round-{number} input[name=picture]")


def request_preview(page: Page, genre: str, number: int) -> None:
    """Choose a genre and wait for the pictures of this round. Of a new Redis the second preview is
    possible only after some seconds, which the page counts."""
    page.get_by_text(genre).click()
    page.locator(".actbar button").click()
    page.wait_for_url("**/preview/")
    if not page.locator(f"#round-{number}").count():
        page.locator("#rounds .card__foot button:enabled").click(timeout=COUNTED_TIMEOUT_MS)
    expect(round_pictures(page, number).first).to_be_visible()


def train(page: Page, name: str, age: int, gender: str) -> Locator:
    """Fill in the details and confirm the price; answers the card with the state."""
    page.get_by_role("button", name="Next: Details").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Age").fill(str(age))
    page.get_by_text(gender, exact=True).click()
    page.locator(".btn--primary:visible", has_text="Train").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text(f"Train “{name}”?")
    dialog.get_by_role("button", name="Train").click()
    return page.locator("#character-state")


def test_a_character_from_a_photo_to_the_studio(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.change_settings(training_seconds=3)
    page = luca.page
    start_character(page)
    request_preview(page, "Picture Book", 1)
    expect_loaded(page.locator("#round-1 img").first)
    page.get_by_role("link", name="Other genre").click()
    assert serious_violations(page) == []
    request_preview(page, "Film Noir", 2)
    round_pictures(page, 1).nth(1).check()
    expect(page.locator(".step[aria-current] .step__note")).to_have_text("Picture 2, round 1")
    assert serious_violations(page) == []
    state = train(page, "Maja", 28, "Female")
    expect(state).to_contain_text("Maja is being trained")
    expect(state).to_contain_text("Maja is ready", timeout=RENDERED_TIMEOUT_MS)
    page.get_by_role("button", name="Make a video").click(timeout=OFFERED_TIMEOUT_MS)
    page.wait_for_url("**/studio/**")
    page.goto(page.url.replace("/type/", "/visuals/"))
    chosen = page.locator("[name=character_id]:checked, select[name=character_id] option:checked")
    expect(chosen.first).to_have_attribute("value", UUID_TEXT)
    assert sandbox_control.count_requests(guest, "POST", "/characters") == 1
    assert sandbox_control.count_requests(guest, "POST", "/preview") == 2
    assert sandbox_control.count_requests(guest, "POST", "/train") == 1
    assert sandbox_control.spent_credits(guest) == 10
