"""A B-roll video from a topic to the finished film, over the real processes of `make run`."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl


def test_b_roll_from_a_topic_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    page.goto("/studio/")
    page.get_by_label("Type").select_option(label="B-roll")
    luca.begin_draft("How a river bends")
    page.get_by_role("button", name="Write the script").click()
    expect(page.locator("textarea[name=script]")).not_to_have_value("")
    continue_to(page, "Voice")
    page.locator("input[name=voice_id]").first.check(force=True)
    continue_to(page, "Visuals")
    expect(page.locator("#step")).not_to_contain_text("Genre")
    page.get_by_label("Overlay").select_option(index=1)
    continue_to(page, "Captions")
    continue_to(page, "Review")
    expect(page.locator("#needs")).not_to_contain_text("Genre")
    render(luca)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    expect_playing(luca.film_player)
    luca.wait_until_price_is_final(job_of(page))


def continue_to(page: Page, step: str) -> None:
    page.get_by_role("button", name=f"Next: {step}").click()
    page.wait_for_url(f"**/{step.lower()}/")


def render(luca: MemberPage) -> None:
    button = luca.page.locator(".btn--primary:visible", has_text="Render").first
    button.click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog).to_contain_text("B-roll, 16:9")
    luca.confirm_dialog(dialog)


def job_of(page: Page) -> str:
    return page.url.split("/")[-2]
