"""A video whose first render fails, over the real processes: rendered again, changed scene by
scene, and rendered once more."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image
from playwright.sync_api import FilePayload, Page, expect

from tests.browser.media import expect_loaded, expect_playing
from tests.browser.member_page import LEDGER_TIMEOUT_MS, RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import RENDER_CREDITS, SandboxControl

REASON = "Image for scene 7 could not be made."


def test_a_failed_render_is_retried_and_then_changed_scene_by_scene(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.script_outcome("rendering", "failed", code="SCENE-IMAGE-FAILED", message=REASON)
    job = luca.order_video("How glaciers move")
    retry(luca)
    expected = sandbox_control.failed_render_credits + RENDER_CREDITS
    assert sandbox_control.spent_credits(guest) == expected
    page = luca.page
    page.get_by_role("link", name="Scenes").click()
    page.wait_for_url("**/scenes/")
    make_new_image(page)
    assert sandbox_control.count_requests(guest, "POST", "/regenerate") == 1
    add_own_picture(page)
    assert sandbox_control.count_requests(guest, "POST", "/assets/upload") == 1
    # What an upload cost may only be known from the ledger, which is read once a minute.
    page.get_by_role("link", name="Render again").click(timeout=LEDGER_TIMEOUT_MS)
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("the new video replaces the present one")
    dialog.get_by_role("button", name="Render again").click()
    page.wait_for_url("**/videos/**")
    expect(page.locator("[id$='-lineage']")).to_contain_text("New image")
    # Each request may wait for one of the token's thirty a minute. The present film is shown until
    # this one is answered.
    expect(luca.film_player).to_have_count(0, timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.count_requests(guest, "POST", "/render") == 2
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    expect_playing(luca.film_player)
    # What a failed render gives back is known from the ledger, too.
    spent = str(sandbox_control.spent_credits(guest))
    expect(luca.shown_spending(job)).to_have_attribute("value", spent, timeout=LEDGER_TIMEOUT_MS)


def retry(luca: MemberPage) -> None:
    """At the price that is shown, until the film is there."""
    status = luca.video_status
    expect(status).to_contain_text(f"“{REASON}”", timeout=RENDERED_TIMEOUT_MS)
    expect(status).to_contain_text("A retry costs about 10 cr.")
    expect(status.locator("code")).to_have_text("SCENE-IMAGE-FAILED")
    luca.page.locator(".page-head__acts").get_by_text("Retry").click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog.locator(".btn--primary")).to_contain_text("≈ 10 cr")
    dialog.get_by_role("button", name="Retry").click()
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)


def make_new_image(page: Page) -> None:
    """One press; the new picture comes by itself."""
    first = page.locator(".scene-card").first
    picture = first.locator("img")
    expect(picture).to_have_js_property("complete", True)
    before = picture.get_attribute("src")
    assert serious_violations(page) == []
    first.get_by_role("button", name="New image").click()
    expect(picture).not_to_have_attribute("src", before or "", timeout=RENDERED_TIMEOUT_MS)
    expect(page.locator("main")).to_contain_text("Changed since the last render")
    expect_loaded(picture)


def add_own_picture(page: Page) -> None:
    """What the file is decides, not its name; a picture is shown before it is sent."""
    page.get_by_role("link", name="Use my own").click()
    dialog = page.locator("dialog[open]")
    assert serious_violations(page) == []
    dialog.locator("input[type=file]").set_input_files(png_file(b"MZ\x90\0" + b"\0" * 99))
    dialog.get_by_label("We may use").check()
    dialog.get_by_role("button", name="Use it").click()
    expect(dialog).to_contain_text("not a picture or film, whatever its name says")
    picture = io.BytesIO()
    Image.new("RGB", (48, 48), (208, 32, 32)).save(picture, "PNG")
    dialog.locator("input[type=file]").set_input_files(png_file(picture.getvalue()))
    expect(dialog).to_contain_text("cliffs.png")
    expect(dialog).to_contain_text("48 × 48")
    dialog.get_by_role("button", name="Use it").click()
    expect(page.locator(".scene-card__own")).to_have_count(1, timeout=RENDERED_TIMEOUT_MS)


def png_file(content: bytes) -> FilePayload:
    return {"name": "cliffs.png", "mimeType": "image/png", "buffer": content}
