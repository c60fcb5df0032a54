"""Changes that come faster than a page can be answered: each part is asked for once at a time, and
the last change is shown."""

from __future__ import annotations

from collections import Counter

import pytest
from django.urls import reverse
from playwright.sync_api import Page, Request, expect

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until
from tests.storyboards import add_scene, create_storyboard, create_storyboard_token

COUNT_TRIGGERS = """() => {
    window.triggers = 0;
    document.addEventListener("htmx:trigger", ({ target }) =>
        (triggers += target.matches("[hx-get*='part=live']")));
}"""

IDLE = "!document.querySelector('.htmx-request')"


@pytest.fixture
def requests() -> Counter[str]:
    """How many were sent, by what they ask for, and how many were aborted."""
    return Counter()


def count_requests(page: Page, requests: Counter[str], part: str) -> None:
    def count(request: Request, name: str) -> None:
        requests[name] += part in request.url

    page.on("request", lambda request: count(request, "sent"))
    page.on("requestfailed", lambda request: count(request, "aborted"))


def test_a_storyboard_that_changes_faster_than_it_is_answered_shows_the_last_change(
    priya: Membership, open_page: OpenPage, page_server: PageServer, requests: Counter[str]
) -> None:
    storyboard = create_storyboard(priya, create_storyboard_token(priya), "Waves", "Gulls")
    page = open_page(priya, reverse("storyboard", args=[storyboard.pk]))
    page.evaluate(COUNT_TRIGGERS)
    count_requests(page, requests, "part=live")
    with hold_response(page, "**/*part=live*"):
        with page.expect_request("**/*part=live*"):
            page_server.push("touched", "job")
        page_server.push("touched", "charge")
        page_server.push("touched", "job storyboard")
        wait_until(lambda: page.evaluate("triggers") > 1)
        add_scene(storyboard, "Wind")
        assert requests == Counter(sent=1)
    expect(page.locator("[data-board] .scene")).to_have_count(3)
    wait_until(lambda: page.evaluate(IDLE))
    assert requests == Counter(sent=2)


# A part of the whole team with a place for what depends on its reader, as pushes bring it.
PART = """<div id="pushed"><p>{number}</p>
    <i id="own" hx-get="/service/?own" hx-trigger="load" hx-swap="outerHTML"></i></div>"""


def test_a_part_that_is_pushed_faster_than_its_own_content_comes_shows_the_last_push(
    priya: Membership, open_page: OpenPage, page_server: PageServer, requests: Counter[str]
) -> None:
    page = open_page(priya, "/library/")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p id=pushed></p>')")
    count_requests(page, requests, "/service/?own")
    with hold_response(page, "**/service/?own"):
        with page.expect_request("**/service/?own"):
            for number in range(1, 4):
                page_server.push("news", PART.format(number=number))
        expect(page.locator("#pushed p")).to_have_text("1")
    expect(page.locator("#pushed p")).to_have_text("3")
    expect(page.locator("#pushed i")).to_have_count(0)
    assert requests == Counter(sent=2)


def test_a_scene_whose_link_was_replaced_meanwhile_is_shown_with_its_clips(
    priya: Membership, open_page: OpenPage, page_server: PageServer
) -> None:
    """htmx would look for the parts beside the panel next to the link, which is gone."""
    storyboard = create_storyboard(priya, create_storyboard_token(priya), "Waves", "Gulls")
    page = open_page(priya, reverse("storyboard", args=[storyboard.pk]))
    known = page.locator("#editor-known [name=scene]")
    first = known.input_value()
    page.evaluate("window.link = [...document.querySelectorAll('[data-board] .scene')].pop()")
    with hold_response(page, "**/*?scene=*"):
        page.locator("[data-board] .scene").last.click()
        add_scene(storyboard, "Wind")
        page_server.push("touched", "storyboard")
        wait_until(lambda: page.evaluate("!window.link.isConnected"))
    expect(page.locator("#panel")).to_contain_text("Scene 2")
    expect(known).not_to_have_value(first)
