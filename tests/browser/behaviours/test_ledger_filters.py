"""Filters of the ledger, its charts, and a chart that is read by keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from dashboard.models import Membership
from proxyapi.models import Token
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.dashboard.ledger.conftest import mark_fully_read, matched, sum_up
from tests.factories import AccountFactory, EntryFactory, TokenFactory

WIDE: ViewportSize = {"width": 1440, "height": 1000}
PHONE: ViewportSize = {"width": 390, "height": 844}
SEARCH = re.compile(r"/ledger/\?q=glacier")
# Marks the document: a page that was loaded again has lost it.
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


@pytest.fixture(autouse=True)
def token(luca: Membership) -> Token:
    """Luca's, whose account had a render and a top-up."""
    account = mark_fully_read(AccountFactory.create(tenant=luca.team.tenant))
    token: Token = TokenFactory.create(account=account, owner=luca.user)
    EntryFactory.create(account=account, credit_spend="500", label="Top-up")
    EntryFactory.create(account=account, **matched(token, "faceless.render"))
    sum_up(account)
    return token


def test_a_text_and_two_days_are_filters_that_keep_each_other(
    vera: Membership, open_page: OpenPage
) -> None:
    """A half-typed day keeps its text when the list is swapped."""
    page = open_page(vera, "/ledger/", viewport=WIDE, locale="en-US")
    page.evaluate(MARK)
    with hold_response(page, SEARCH):
        page.locator("#ledger-search").press_sequentially("glacier")
        page.get_by_label("From").press_sequentially("11")
    page.wait_for_url("**/ledger/?q=glacier")
    assert page.evaluate(MARKED), "it was loaded again"
    page.keyboard.type("032026")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ledger/?q=glacier&from=2026-11-03&to=")
    page.locator("#chip-direction").select_option("out")
    page.wait_for_url("**/ledger/?q=glacier&direction=out&period=2026-11-03..")
    expect(page.get_by_label("From")).to_have_value("2026-11-03")
    expect(page.locator(".dates__said").first).to_have_text("3 Nov 2026")
    page.locator("#chip-period").select_option("all")
    page.wait_for_url("**/ledger/?q=glacier&direction=out&period=all")
    expect(page.get_by_label("From")).to_have_value("")
    expect(page.locator("#ledger-search")).to_have_value("glacier")
    page.get_by_label("Credits: clear filter").press("Enter")
    page.wait_for_url("**/ledger/?q=glacier&period=all")


def test_on_a_phone_the_sheet_has_the_filters_of_its_page(
    vera: Membership, open_page: OpenPage
) -> None:
    """Those that were taken off beside it, and a search that was on its way when it was opened; of
    what was chosen in it and not shown, nothing."""
    page = open_page(vera, "/ledger/?direction=in&period=all", viewport=PHONE)
    sheet, choice = page.locator("#filters"), page.locator("#filters [name=direction]")
    page.locator("#chip-direction").select_option("")
    page.wait_for_url("**/ledger/?period=all")
    page.get_by_role("button", name="Filters").click()
    expect(choice).to_have_value("")
    choice.select_option("out")
    sheet.get_by_role("button", name="Cancel").click()
    expect(sheet).to_be_hidden()
    with hold_response(page, SEARCH):
        page.locator("#ledger-search").press_sequentially("glacier")
        page.get_by_role("button", name="Filters").click()
        expect(choice).to_have_value("")
        choice.select_option("out")
    page.wait_for_url("**/ledger/?q=glacier&period=all")
    expect(choice).to_have_value("out")
    sheet.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("q=glacier.*direction=out"))


@pytest.mark.console("htmx:sendAbort", "htmx:afterRequest")
def test_two_quick_choices_are_both_in_the_charts_which_are_read_by_keyboard(
    vera: Membership, open_page: OpenPage
) -> None:
    mark_fully_read(AccountFactory.create(tenant=vera.team.tenant))
    page = open_page(vera, "/ledger/charts/", viewport=WIDE)
    read_chart(page, "balance-says", "cr at the end.")
    with hold_response(page, re.compile(r"/charts/\?")):
        page.locator("#chip-period").select_option("90d")
        page.locator("#chip-account").select_option(index=1)
    page.wait_for_url(re.compile(r"period=90d&account=\w+"))
    expect(page.locator("#chip-account")).not_to_have_value("")
    expect(page.locator("#chip-period")).to_have_value("90d")


def test_the_overviews_chart_and_its_open_table_outlive_a_booking(
    vera: Membership, open_page: OpenPage
) -> None:
    page = open_page(vera, "/", viewport=WIDE)
    page.evaluate(MARK)
    read_chart(page, "spend-says", re.compile(r": [\d,]+ cr\. .*Luca [\d,]+"))
    page.locator("#spend-table > summary").click()
    page.evaluate("document.getElementById('spend-table').dataset.old = ''")
    page.evaluate("document.body.dispatchEvent(new CustomEvent('reelroom:ledger'))")
    expect(page.locator("#spend-table:not([data-old])")).to_have_attribute("open", "")
    read_chart(page, "spend-says", re.compile("Luca"))
    assert page.evaluate(MARKED), "it was loaded again"


def read_chart(page: Page, line: str, last_column: str | re.Pattern[str]) -> None:
    """The last column of a chart, and what its line says when it is left."""
    chart, says = page.locator(f"[data-chart='{line}'] > svg"), page.locator(f"#{line}")
    at_rest = says.inner_text()
    chart.press("End")
    expect(says).to_contain_text(last_column)
    chart.press("Escape")
    expect(says).to_have_text(at_rest)
