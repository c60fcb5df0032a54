"""What a poll read appears in an open page without a reload; `make bench` measures how soon."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from urllib.parse import urlsplit

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


def test_a_connection_outlives_the_thinking_between_two_presses(live_portal: LivePortal) -> None:
    """A press on a connection that the server closes just then has no answer, nor is sent again."""
    address = urlsplit(live_portal.portal)
    one = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
    for thought in (0, 6):
        threading.Event().wait(thought)
        one.request("GET", "/healthz")
        assert one.getresponse().read()
    one.close()


# Without the stream, because the portal polls other videos; delays are skipped.
ALONE = "delete window.EventSource; Math.random = () => 0"
COUNT = "() => { window.looks = 0; document.addEventListener('refresh', () => looks++); }"
# A video in this state is told of; answers how often the list has looked again by then.
TOLD = """(state) => new Promise((done) => {
    const detail = `<article id="job-elsewhere" data-card data-state="${state}"></article>`;
    document.dispatchEvent(new CustomEvent("live:news", { detail }));
    setTimeout(() => done(looks));
})"""


def test_a_list_refetches_once_per_state_for_a_video_it_does_not_show(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Vera").page
    page.add_init_script(ALONE)
    page.goto("/library/?q=nobody+made+this")
    page.evaluate(COUNT)
    states = ("running", "running", "running", "completed", "completed")
    assert [page.evaluate(TOLD, state) for state in states] == [1, 1, 1, 2, 2]
