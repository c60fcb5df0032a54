"""Signing in and out of the real portal."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.sandbox_control import wait_until


def test_a_producer_signs_in_and_sees_the_room_of_the_team(open_fresh_page):
    page = open_fresh_page("Priya")

    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()


def test_a_wrong_password_stays_on_the_sign_in_page_and_says_so(chromium, live_portal):
    with chromium.new_context(base_url=live_portal.portal) as context:
        page = context.new_page()
        page.goto("/accounts/login/")
        page.locator("input[name=login]").fill(live_portal.person("Priya").email)
        page.locator("input[name=password]").fill("not her password")
        page.locator("input[name=password]").press("Enter")

        expect(page).to_have_url(re.compile("/accounts/login/"))
        expect(page.locator("form").first).to_be_visible()


def test_a_forgotten_password_is_mailed_by_the_worker(chromium, live_portal):
    """Without a mail server the mail is in the output of `make run`."""
    with chromium.new_context(base_url=live_portal.portal) as context:
        page = context.new_page()
        page.goto("/accounts/password/reset/")
        page.get_by_label("E-mail").fill(live_portal.person("Vera").email)
        page.get_by_role("button", name="Send link").click()
        expect(page.get_by_role("heading", name="Check your e-mail")).to_be_visible()
        start = f"{live_portal.portal}/accounts/password/reset/key/"
        wait_until(lambda: any(start in line for line in list(live_portal.lines)))
        said = [line for line in list(live_portal.lines) if start in line]
        assert len(said) == 1, "the text alone, without HTML"
        page.goto(said[0][said[0].index(start) :])

        expect(page.get_by_role("button", name="Set password")).to_be_visible()


def test_a_press_is_marked_as_use_and_what_a_page_asks_by_itself_is_not(open_fresh_page):
    page = open_fresh_page("Vera")
    page.goto("/library/")
    with page.expect_request(lambda request: "q=whales" in request.url) as typed:
        page.locator("#library-search").press_sequentially("whales")
    with page.expect_request(lambda request: "hx-request" in request.headers) as polled:
        page.evaluate("document.body.dispatchEvent(new CustomEvent('poll'))")

    assert typed.value.headers["x-used"] == "1"
    assert "x-used" not in polled.value.headers
