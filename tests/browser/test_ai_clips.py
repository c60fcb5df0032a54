"""A video of AI clips from a topic to the finished film, over the real processes of `make run`."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl
from tests.browser.test_b_roll import continue_to, job_of


def test_ai_clips_from_a_draft_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    page.goto(f"/studio/{luca.create_draft('The last lighthouse keeper')}/type/")
    page.get_by_role("radio", name="AI clips").check(timeout=RENDERED_TIMEOUT_MS)  # its options
    continue_to(page, "Script")
    continue_to(page, "Voice")
    continue_to(page, "Visuals")
    choose_engine(page)
    page.get_by_role("radio", name="Noir").check()
    expect(page.locator("#needs")).not_to_contain_text("Missing:")
    expect(page.locator(".rate")).to_contain_text("Kestrel Voice, 720p, sound on")
    continue_to(page, "Captions")
    continue_to(page, "Review")
    expect(page.locator("dl.facts").filter(has_text="Clip engine")).to_contain_text("Sound on")
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("AI clips, 16:9")
    luca.confirm_dialog(dialog)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    expect_playing(luca.film_player)
    luca.wait_until_price_is_final(job_of(page))


def choose_engine(page: Page) -> None:
    """By keyboard: an engine, then a price of its own with sound."""
    engine = page.get_by_role("radio", name="Kestrel Voice", exact=False).first
    expect(page.get_by_role("radio", name="720p, sound on")).to_be_hidden()
    engine.check()
    price = page.get_by_role("radio", name="720p, sound off")
    expect(price).to_be_checked()
    price.press("ArrowRight")
    expect(page.get_by_role("radio", name="720p, sound on")).to_be_checked()
    expect(page.locator(".pick:visible")).to_contain_text("not offered")
