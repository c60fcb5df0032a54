"""The overview stays open all day: what a colleague does stands in it, without a reload."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl

BOOKED = 90_000  # milliseconds until the mirror has read it, on two busy cores
WIDE = {"width": 1440, "height": 1000}
# Marks the document: a page that was loaded again has lost it.
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


def test_what_a_colleague_renders_shows_up_by_itself(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, thea = open_member_page("Luca"), open_member_page("Thea", viewport=WIDE)
    sandbox_control.change_settings(render_seconds=600)
    luca.use_token_of(sandbox_control.create_account())
    page = open_overview(thea.page)
    luca.make_video("Seen from the overview")
    running = page.locator("#overview-running")
    expect(running).to_contain_text("Seen from the overview")
    expect(running.locator(".timebar").first).to_be_visible()
    assert page.evaluate(MARKED), "it was loaded again"


def test_a_lost_answer_is_shown_where_it_is_decided(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, thea = open_member_page("Luca"), open_member_page("Thea", viewport=WIDE)
    luca.use_token_of(lost := sandbox_control.create_account())
    page = open_overview(thea.page)
    sandbox_control.set_fault(lost, "html", "GET", "*/credits/history")
    sandbox_control.set_fault(lost, "reset", "POST", "*/render", times=1)
    luca.make_video("An answer that never came")
    ask = page.locator("#overview-attention .item-row", has_text="An answer that never came")
    expect(ask).to_contain_text("it was not sent again")
    assert page.evaluate(MARKED), "it was loaded again"
    ask.get_by_role("link", name="View charge").click()
    item = page.locator(".item-row--amount", has_text="An answer that never came")
    expect(item).to_contain_text("The ledger shows whether it was charged, at the latest by")


def test_what_was_booked_is_drawn_and_read_with_the_arrow_keys(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, vera = open_member_page("Luca"), open_member_page("Vera", viewport=WIDE)
    luca.use_token_of(sandbox_control.create_account())
    page = open_overview(vera.page)
    luca.wait_until_price_is_final(luca.make_video("Booked and drawn"))
    says = page.locator("#spend-says")
    expect(page.locator("#overview-spenders")).to_contain_text("Luca", timeout=BOOKED)
    page.locator("[data-chart='spend-says'] > svg").press("End")
    expect(says).to_contain_text(re.compile(r": [\d,]+ cr\. .*Luca [\d,]+"))
    page.locator("#spend-table > summary").click()
    page.evaluate("document.getElementById('spend-table').dataset.old = ''")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('reelroom:ledger'))")
    expect(page.locator("#spend-table:not([data-old])")).to_have_attribute("open", "")
    page.locator("[data-chart='spend-says'] > svg").press("End")
    page.locator("[data-chart='spend-says'] > svg").press("Escape")
    expect(says).to_contain_text("in the last 30 days")
    assert page.evaluate(MARKED), "it was loaded again"


def open_overview(page: Page) -> Page:
    page.goto("/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(MARK)
    return page
