"""A render that fails, a reader who is offline, a portal that is killed while a video renders."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl

REASON = "Image for scene 7 could not be made."


def test_a_failed_render_says_why_and_offers_a_retry_at_its_price(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.script_outcome("rendering", "failed", code="SCENE-IMAGE-FAILED", message=REASON)
    job = luca.make_video("The seventh scene")
    expect(luca.video_status).to_contain_text(f"“{REASON}”", timeout=RENDERED_TIMEOUT_MS)
    expect(luca.video_status).to_contain_text("A retry costs about 10 cr.")
    expect(luca.video_status.locator("code")).to_have_text("SCENE-IMAGE-FAILED")
    luca.page.locator(".page-head__acts").get_by_text("Retry").click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog.locator(".btn--primary")).to_contain_text("≈ 10 cr")
    dialog.get_by_role("button", name="Retry").click()
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job) == 20


def test_who_was_offline_sees_the_present_state_without_a_reload(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, vera = open_member_page("Luca"), open_member_page("Vera")
    luca.use_token_of(sandbox_control.create_account())
    job = luca.make_video("While she was away")
    vera.page.goto(f"/videos/{job}/")
    expect(vera.page.locator("#live")).to_have_attribute("data-state", "open")
    vera.page.context.set_offline(True)
    expect(vera.page.get_by_text("You are offline.")).to_be_visible()
    expect(vera.page.locator("main")).to_contain_text("Renders continue.")
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    vera.page.context.set_offline(False)
    expect(vera.film_player).to_be_attached()
    expect(vera.page.get_by_text("You are offline.")).to_be_hidden()
