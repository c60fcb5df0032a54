"""A change is pushed into the open pages of others: the stop of all charges."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import MemberPage

REASON = "A script went wild"


def test_a_stop_shows_on_every_open_page_until_it_is_lifted(
    open_member_page: Callable[..., MemberPage],
) -> None:
    producer, owner = open_member_page("Priya").page, open_member_page("Mira").page
    producer.goto("/library/")
    expect(producer.locator("#live")).to_have_attribute("data-state", "open")
    owner.goto("/operations/")
    owner.get_by_role("link", name="Stop all charges").click()
    owner.get_by_label("Why").fill(REASON)
    owner.get_by_role("button", name="Stop all charges").click()
    expect(producer.locator("#charge-stop")).to_contain_text(REASON)
    owner.get_by_role("link", name="Allow charges").click()
    owner.get_by_role("button", name="Allow charges").click()
    expect(producer.locator("#charge-stop")).to_be_hidden()
