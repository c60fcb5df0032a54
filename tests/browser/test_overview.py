"""The overview stays open all day: what a colleague does stands in it, without a reload."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.desk import PRICED, Desk
from tests.browser.stage import Stage

BOOKED = 90_000  # milliseconds until the mirror has read it, on two busy cores
WIDE = {"width": 1440, "height": 1000}
# Marks the document: a page that was loaded again has lost it.
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


def test_what_a_colleague_renders_shows_up_by_itself(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, thea = desk_of("Luca"), desk_of("Thea", viewport=WIDE)
    stage.settings(render_seconds=600)
    luca.join(stage.account())
    page = opened(thea.page)
    luca.make("Seen from the overview")
    running = page.locator("#overview-running")
    expect(running).to_contain_text("Seen from the overview", timeout=PRICED)
    expect(running.locator(".timebar").first).to_be_visible()
    assert page.evaluate(MARKED), "it was loaded again"


def test_a_lost_answer_is_told_where_it_is_decided(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, thea = desk_of("Luca"), desk_of("Thea", viewport=WIDE)
    luca.join(lost := stage.account())
    page = opened(thea.page)
    stage.fault(lost, "html", "GET", "*/credits/history")
    stage.fault(lost, "reset", "POST", "*/render", times=1)
    luca.make("An answer that never came")
    ask = page.locator("#overview-asks .ask", has_text="An answer that never came")
    expect(ask).to_contain_text("it was not sent again", timeout=PRICED)
    assert page.evaluate(MARKED), "it was loaded again"
    ask.get_by_role("link", name="Follow it").click()
    item = page.locator(".ask--amount", has_text="An answer that never came")
    expect(item).to_contain_text("The ledger decides, at the latest by")


def test_what_was_booked_is_drawn_and_read_with_the_arrow_keys(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, vera = desk_of("Luca"), desk_of("Vera", viewport=WIDE)
    luca.join(stage.account())
    page = opened(vera.page)
    luca.paid(luca.make("Booked and drawn"))
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


def opened(page: Page) -> Page:
    page.goto("/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(MARK)
    return page
