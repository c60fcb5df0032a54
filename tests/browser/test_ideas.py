"""Ideas over the real processes of `make run`: searched, left, found, and made into drafts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
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


def test_several_ideas_become_drafts_at_once(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    page = luca.page
    search(page, "night ferries")
    rows = page.locator("#idea-rows tr", has_text="night ferries")
    expect(rows.first).to_be_visible()
    page.goto("/ideas/?keyword=night+ferries")
    boxes = page.locator("#idea-rows input[type=checkbox]")
    boxes.nth(0).check()
    boxes.nth(2).click(modifiers=["Shift"])
    expect(page.locator("#picked")).to_contain_text("3 ideas selected")
    page.keyboard.press("Escape")
    expect(page.locator("#picked")).to_be_hidden()
    boxes.nth(0).check()
    boxes.nth(2).click(modifiers=["Shift"])
    page.get_by_role("button", name="Make 3 drafts").click()
    page.wait_for_url("**/studio/drafts/")
    expect(page.locator("#toasts, .toasts")).to_contain_text("3 drafts were made")
    page.goto("/ideas/?keyword=night+ferries&used=yes")
    expect(page.locator("#idea-rows tr")).to_have_count(3)
    assert sandbox_control.spent_credits(guest) == 15


def test_owned_ideas_are_told_while_one_types_and_filtered_without_a_reload(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    page = luca.page
    search(page, "owls", "YouTube")
    expect(page.locator("#idea-rows tr", has_text="owls").first).to_be_visible()
    asked = sandbox_control.count_requests(guest, "GET", "/ideas")
    page.locator("#id_keyword").fill("Owls")
    owned = page.locator("#idea-owned")
    expect(owned).to_contain_text("You own 20 ideas for “Owls” already (free).")
    expect(owned).to_contain_text("by Luca. Searching again is charged again.")
    page.locator("#id_keyword").fill("nothing of the kind")
    expect(owned).to_contain_text("No idea for “nothing of the kind” yet.")
    page.locator("#ideas-search").fill("no such title")
    expect(page.locator("#ideas")).to_contain_text("No ideas match")
    page.get_by_role("link", name="Clear all filters").click()
    expect(page.locator("#idea-rows tr", has_text="owls").first).to_be_visible()
    assert sandbox_control.count_requests(guest, "GET", "/ideas") - asked <= 1


def test_a_search_that_finds_nothing_is_free(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    search(luca.page, "xkcdq")
    row = luca.page.locator("#searches .item-row", has_text="“xkcdq”").first
    expect(row).to_contain_text("It found nothing and was free.")
    assert sandbox_control.spent_credits(guest) == 0


def test_a_lost_answer_is_read_back_and_not_sent_again(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl
) -> None:
    page = luca.page
    sandbox_control.set_fault(guest, "close", "POST", "*/discover", when="after", times=1)
    search(page, "glass frogs")
    row = page.locator("#searches .item-row", has_text="“glass frogs”").first
    expect(row).to_contain_text("It was charged: 15 cr, ledger", timeout=RENDERED_TIMEOUT_MS)
    expect(row).to_contain_text("20 new ideas are in the list.")
    expect(page.locator("#idea-rows tr", has_text="glass frogs").first).to_be_visible()
    assert sandbox_control.count_requests(guest, "POST", "/discover") == 1
    assert sandbox_control.spent_credits(guest) == 15


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
