"""The ledger in a browser: a debit comes by itself, is filtered for, exported and opened."""

from __future__ import annotations

import csv
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

from playwright.sync_api import ViewportSize, expect

from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl

BOOKED = 90_000  # milliseconds at most; what comes later than its early reading has its minute
WIDE: ViewportSize = {"width": 1440, "height": 1000}
ROWS = "#ledger-entries tbody:not(.pending) tr:not(.table__group)"
# Marks the document: a page that was loaded again has lost it.
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


def test_a_debit_comes_into_an_open_ledger_is_filtered_exported_and_opened(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, page = open_member_page("Luca"), open_member_page("Thea", viewport=WIDE).page
    luca.use_token_of(sandbox_control.create_account())
    page.goto("/ledger/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(MARK)
    cost = luca.shown_cost(luca.make_video("Booked while you look"))
    # It comes as the service's words, and again when its charge is found.
    rows = page.locator(ROWS, has_text="Booked while you look")
    render = rows.filter(has_text="Render").first
    expect(render).to_contain_text(f"\N{MINUS SIGN}{cost}", timeout=BOOKED)
    expect(page.locator("#ledger-totals")).to_contain_text("Luca")
    page.locator("#chip-direction").select_option("out")
    expect(page.locator("#ledger-chips .chip--on")).to_contain_text("out")
    page.locator("#ledger-search").fill("Booked while")
    page.wait_for_url("**/ledger/?q=Booked+while&direction=out")
    assert page.evaluate(MARKED), "it was loaded again"
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Export CSV").click()
    with Path(waiting.value.path()).open(newline="", encoding="utf-8-sig") as file:
        spent = sum(Decimal(row["credit_spend"]) for row in csv.DictReader(file))
    assert spent == -cost
    render.locator("td[data-at=lead] a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Render")
    expect(page.locator("main")).to_contain_text("Original data")
