"""Ideas over the real processes of `make run`: searched, found, filtered, and made into drafts."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl


def test_a_search_finds_ideas_that_become_drafts(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    with hold_response(page, re.compile("/ideas/searches/check/")):  # of what is being typed
        search(page, "night ferries")
    row = page.locator("#searches .item-row", has_text="“night ferries” on TikTok")
    expect(row).to_contain_text("20 new ideas, 15 cr.", timeout=RENDERED_TIMEOUT_MS)
    page.locator("#id_keyword").fill("Night ferries")
    owned = page.locator("#idea-owned")
    expect(owned).to_contain_text("You own 20 ideas for “Night ferries” already (free).")
    assert serious_violations(page) == []
    filter_by_title(page)
    first = page.locator("#idea-rows tr", has_text="night ferries").first
    title = first.locator(".table__main").inner_text()
    first.get_by_role("button", name="Make a video").click()
    page.wait_for_url("**/script/")
    expect(page.locator("[name=topic]")).to_have_value(title)
    make_several(page)
    page.goto("/ideas/?keyword=night+ferries&used=yes")
    expect(page.locator("#idea-rows tr", has_text=title)).to_contain_text("Draft started by Luca")
    expect(page.locator("#idea-rows tr")).to_have_count(4)
    page.get_by_role("link", name="Open the draft").first.click()
    page.wait_for_url("**/studio/**")
    assert sandbox_control.spent_credits(guest) == 15
    assert sandbox_control.count_requests(guest, "POST", "/discover") == 1


def search(page: Page, keyword: str) -> None:
    page.goto("/ideas/")
    page.get_by_label("Keyword", exact=False).first.fill(keyword)
    page.get_by_label("TikTok", exact=True).check()
    page.get_by_role("button", name="Search 15 cr").click()


def filter_by_title(page: Page) -> None:
    """Without a reload, and back."""
    page.locator("#ideas-search").fill("no such title")
    expect(page.locator("#ideas")).to_contain_text("No ideas match")
    page.get_by_role("link", name="Clear all filters").click()
    expect(page.locator("#idea-rows tr", has_text="night ferries").first).to_be_visible()


def make_several(page: Page) -> None:
    """Three of those that were not used, selected as a range."""
    page.goto("/ideas/?keyword=night+ferries&used=no")
    boxes = page.locator("#idea-rows input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(2).click(modifiers=["Shift"])
    page.get_by_role("button", name="Make 3 drafts").click()
    page.wait_for_url("**/studio/drafts/")
    expect(page.locator("#toasts, .toasts")).to_contain_text("3 drafts were made")
