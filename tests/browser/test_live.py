"""What a poll read appears in each open page without a reload; `make bench` measures how soon."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl
from tests.browser.update_latency import measure_update_delays


def test_a_finished_render_is_shown_after_the_poll_in_nine_windows(
    live_portal: LivePortal,
    open_member_page: Callable[..., MemberPage],
    sandbox_control: SandboxControl,
) -> None:
    """A browser opens six connections to the server, which speaks HTTP/1.1."""
    luca, vera = open_member_page("Luca"), open_member_page("Vera")
    others = [vera.page.context.new_page() for _ in range(8)]
    for window in others:
        window.goto("/account/")
    (wait,) = measure_update_delays(live_portal, luca, vera, sandbox_control, renders=1)
    assert wait > 0
    for window in others:
        expect(window.locator("#live")).to_have_attribute("data-state", "open")
