"""A reader who is offline while a video renders."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl


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
