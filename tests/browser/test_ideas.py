"""Ideas over the real processes of `make run`: searched, left, found, and made into drafts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, SandboxGuest

Members = Callable[..., MemberPage]


@pytest.fixture
def guest(sandbox_control: SandboxControl) -> Iterator[SandboxGuest]:
    usual = sandbox_control.control_request("GET", "settings")["discovery_seconds"]
    yield sandbox_control.create_account()
    sandbox_control.change_settings(discovery_seconds=usual)


@pytest.fixture
def luca(open_member_page: Members, guest: SandboxGuest) -> MemberPage:
    member = open_member_page("Luca")
    member.use_token_of(guest)
    return member


def search(page: Page, keyword: str, network: str = "TikTok") -> None:
    page.goto("/ideas/")
    page.get_by_label("Keyword", exact=False).first.fill(keyword)
    page.get_by_label(network, exact=True).check()
    page.get_by_role("button", name="Search 15 cr").click()
    page.wait_for_url("**/ideas/")


def search_row(page: Page, keyword: str) -> object:
    return page.locator("#searches .item-row", has_text=f"“{keyword}”").first


def test_a_search_is_left_found_and_one_idea_becomes_a_draft(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    page = luca.page
    sandbox_control.change_settings(discovery_seconds=4)
    search(page, "salt lakes")
    row = page.locator("#searches .item-row", has_text="“salt lakes” on TikTok")
    expect(row).to_contain_text("You can leave this page")
    expect(row).to_contain_text("2 min at most")
    page.goto("/library/")
    page.goto("/ideas/")
    expect(row).to_contain_text("20 new ideas, 15 cr.")
    first = page.locator("#idea-rows tr", has_text="salt lakes").first
    expect(first).to_contain_text("new")
    assert serious_violations(page) == []
    title = first.locator(".table__main").inner_text()
    first.get_by_role("button", name="Make a video").click()
    page.wait_for_url("**/script/")
    expect(page.locator("[name=topic]")).to_have_value(title)
    page.goto("/ideas/?used=yes")
    expect(page.locator("#idea-rows tr", has_text=title)).to_contain_text("Draft started by Luca")
    page.get_by_role("link", name="Open the draft").first.click()
    page.wait_for_url("**/studio/**")
    assert sandbox_control.spent_credits(guest) == 15
    assert sandbox_control.count_requests(guest, "GET", "/ideas") >= 2


def test_a_press_while_the_typed_words_are_looked_up_searches_once(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    """The press waits for a lookup, and a later lookup replaces that one."""
    with hold_response(luca.page, re.compile("/ideas/searches/check/")):
        search(luca.page, "tide pools")
        luca.page.wait_for_timeout(400)  # typing is looked up after a pause
    row = luca.page.locator("#searches .item-row", has_text="“tide pools” on TikTok")
    expect(row).to_contain_text("20 new ideas, 15 cr.")
    assert sandbox_control.count_requests(guest, "POST", "/discover") == 1
    assert sandbox_control.spent_credits(guest) == 15
