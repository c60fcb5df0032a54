"""Alerts in a browser: the bell, a test that arrives at a webhook, what it says in the log."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from tests.browser.member_page import MemberPage


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address, and the signatures of what was posted there."""
    got: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            got.append(self.headers["webhook-signature"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/alerts", got
        server.shutdown()
        thread.join()


def test_a_test_alert_shows_in_the_bell_and_arrives_signed(
    open_member_page: Callable[..., MemberPage],
    listener: tuple[str, list[str]],
) -> None:
    address, got = listener
    page = open_member_page("Thea").page
    page.goto("/alerts/")
    page.get_by_label("Address").fill(address)
    page.get_by_role("button", name="Save webhook").click()
    expect(page.locator("#secret")).to_contain_text("whsec_")
    page.goto("/alerts/")
    expect(page.locator("#secret")).to_have_count(0)
    page.get_by_role("button", name="Send test").click()
    expect(page.locator("#alert-history")).to_contain_text("Thea sent a test alert")
    expect(page.locator("#bell-wide")).to_be_visible()
    expect(page.locator("#log tbody tr").first).to_contain_text("Delivered")
    expect(page.locator("#log tbody tr").nth(1)).to_contain_text("Delivered")
    assert len(got) == 1
    assert got[0].startswith("v1,")
    page.get_by_role("button", name="Mark as read").click()
    expect(page.locator("#bell-wide")).to_be_hidden()
    page.get_by_role("button", name="Remove webhook").click()
    expect(page.get_by_text("Sends to")).to_have_count(0)
