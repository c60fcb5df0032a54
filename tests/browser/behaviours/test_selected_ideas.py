"""The list of ideas: what is selected stays, and what an answer brings can be pressed at once."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import Token
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.dashboard.ideas import conftest as ideas

account, token = ideas.account, ideas.token
PRESS_WHEN_SHOWN_JS = """pressed => new MutationObserver((_, observer) => {
    const next = document.querySelector("[data-more-rows]");
    if (!next || next === pressed) return;
    observer.disconnect();
    next.click();
}).observe(document.body, { childList: true, subtree: true })"""
LIST = re.compile(r"/ideas/(\?.*)?$")


def test_a_range_of_ideas_is_selected_with_shift_and_let_go_with_escape(
    priya: Membership, token: Token, open_page: OpenPage
) -> None:
    ideas.make_ideas(token.account, "Deep lakes", "Salt lakes", "Blue lakes", "Dry lakes")
    page = open_page(priya, "/ideas/")
    boxes, bar = page.locator("#idea-rows input[type=checkbox]"), page.locator("#picked")
    boxes.nth(0).check()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(bar).to_contain_text("3 ideas selected")
    expect(bar.get_by_role("button", name="Make 3 drafts")).to_be_visible()
    expect(bar.get_by_role("button", name="Batch of 3 ideas")).to_be_visible()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(boxes.nth(1)).not_to_be_checked()


def test_a_list_that_was_asked_for_before_leaves_what_is_selected(
    priya: Membership, token: Token, open_page: OpenPage
) -> None:
    ideas.make_ideas(token.account, "Deep lakes", "Salt lakes")
    page = open_page(priya, "/ideas/")
    with hold_response(page, LIST):
        with page.expect_request(LIST):
            page.evaluate("document.body.dispatchEvent(new CustomEvent('reelroom:idea'))")
        page.locator("#idea-rows input[type=checkbox]").nth(1).check()
    expect(page.locator("#ideas.htmx-request")).to_have_count(0)
    page.get_by_role("button", name="Make 1 draft").click()
    page.wait_for_url("**/script/")


def test_a_link_is_of_htmx_from_the_moment_it_is_shown(
    priya: Membership, token: Token, open_page: OpenPage
) -> None:
    ideas.make_ideas(token.account, *(f"Lake {number}" for number in range(70)))
    page = open_page(priya, "/ideas/")
    more = page.locator("[data-more-rows]")
    more.evaluate(PRESS_WHEN_SHOWN_JS)
    more.click()
    expect(page.locator("#idea-rows > tr")).to_have_count(70)
