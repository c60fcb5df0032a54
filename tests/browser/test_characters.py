"""A character from a photo to a draft, over the real processes; its first training fails."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

from PIL import Image
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.media import expect_loaded
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl

UUID_TEXT = re.compile(r"[0-9a-f-]{36}")
# The options are read again at once, or within a minute if the token has no request left.
OFFERED_TIMEOUT_MS = 100_000


def portrait_file() -> FilePayload:
    file = io.BytesIO()
    Image.new("RGB", (640, 800), (196, 208, 214)).save(file, "JPEG")
    return {"name": "maja-portrait.jpg", "mimeType": "image/jpeg", "buffer": file.getvalue()}


def start_character(page: Page) -> None:
    """From the gallery to the genres, with a photo."""
    page.goto("/characters/")
    page.get_by_role("link", name="New character").first.click()
    page.locator("input[type=file]").set_input_files(portrait_file())
    page.get_by_label("I may use this photo").check()
    page.get_by_role("button", name="Next: Genre").click()
    expect(page.get_by_text("How is it drawn?")).to_be_visible()


def request_preview(page: Page, genre: str) -> None:
    """Choose a genre and wait for its pictures."""
    page.get_by_text(genre).click()
    page.locator(".actbar button").click()
    page.wait_for_url("**/preview/")
    expect(page.locator("#round-1 input[name=picture]").first).to_be_visible()


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


def test_a_character_from_a_photo_over_a_failed_training_to_the_studio(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    start_character(page)
    request_preview(page, "Picture Book")
    expect_loaded(page.locator("#round-1 img").first)
    page.locator("#round-1 input[name=picture]").nth(1).check()
    expect(page.locator(".step[aria-current] .step__note")).to_have_text("Picture 2, round 1")
    assert serious_violations(page) == []
    outcome = {"kind": "character", "statuses": ["training", "failed"]}
    sandbox_control.control_request("POST", "outcomes", **outcome)
    state = train(page, "Maja", 28, "Female")
    expect(state).to_contain_text("The training failed", timeout=RENDERED_TIMEOUT_MS)
    expect(state).to_contain_text("10 cr were charged. The service promises no refund.")
    state.get_by_role("link", name="Train again").click()
    page.locator("dialog[open]").get_by_role("button", name="Train").click()
    expect(state).to_contain_text("Maja is ready", timeout=RENDERED_TIMEOUT_MS)
    page.get_by_role("button", name="Make a video").click(timeout=OFFERED_TIMEOUT_MS)
    page.wait_for_url("**/studio/**")
    page.goto(page.url.replace("/type/", "/visuals/"))
    chosen = page.locator("[name=character_id]:checked, select[name=character_id] option:checked")
    expect(chosen.first).to_have_attribute("value", UUID_TEXT)
    assert sandbox_control.count_requests(guest, "POST", "/characters") == 1
    assert sandbox_control.count_requests(guest, "POST", "/preview") == 1
    assert sandbox_control.count_requests(guest, "POST", "/train") == 2
    assert sandbox_control.spent_credits(guest) == 20
