"""Pressed twice, and in two tabs: one request and one charge."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import MemberPage
from tests.browser.ready_pages import new_page
from tests.browser.sandbox_control import SandboxControl


def test_a_render_that_is_double_clicked_and_confirmed_in_two_tabs_is_charged_once(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    job = luca.create_draft("Confirmed twice")
    tab = MemberPage(new_page(luca.page.context))
    dialog, other = luca.open_render_dialog(job), tab.open_render_dialog(job)
    # Its price card would lead the other tab to the video by itself.
    tab.page.route("**/price/**", lambda route: route.fulfill(status=204))
    dialog.get_by_role("button", name="Render").dblclick()
    luca.page.wait_for_url("**/videos/**")
    other.get_by_role("button", name="Render").click()
    banner = other.get_by_role("alert")
    expect(banner).to_contain_text("This video")
    expect(banner).to_contain_text("Nothing was sent twice.")
    other.get_by_role("link", name="View video").click()
    tab.page.wait_for_url("**/videos/**")
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job) == tab.shown_cost(job)
    assert sandbox_control.count_requests(guest, "POST", "/render") == 1
