"""What a poll read appears in an open page without a reload; `make bench` measures how soon."""

from __future__ import annotations

from collections.abc import Callable

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl
from tests.browser.update_latency import measure_update_delays


def test_a_finished_render_is_shown_after_the_poll(
    live_portal: LivePortal,
    open_member_page: Callable[..., MemberPage],
    sandbox_control: SandboxControl,
) -> None:
    (wait,) = measure_update_delays(
        live_portal, open_member_page("Luca"), open_member_page("Vera"), sandbox_control, renders=1
    )
    assert wait > 0
