"""The ledger in a browser: entries come by themselves, filters by keyboard, the file by a press."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.album import Album
from tests.browser.desk import Desk
from tests.browser.stage import Stage

BOOKED = 90_000  # milliseconds until the mirror has read it, on two busy cores
WIDE = {"width": 1440, "height": 1000}
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


def test_what_was_booked_comes_into_an_open_ledger(
    desk_of: Callable[..., Desk], stage: Stage, album: Album
) -> None:
    luca, thea = desk_of("Luca"), desk_of("Thea", viewport=WIDE)
    luca.join(stage.account())
    page = opened(thea.page)
    cost = luca.cost(luca.make("Booked while you look"))
    # It comes as the service's words, and again when its charge is found.
    rows = page.locator("#ledger-entries tr", has_text="Booked while you look")
    render = rows.filter(has_text="Render").first
    expect(render).to_contain_text(f"\N{MINUS SIGN}{cost}", timeout=BOOKED)
    expect(page.locator("#ledger-totals")).to_contain_text("Luca")
    assert page.evaluate(MARKED), "it was loaded again"
    album.take(page, "ledger")
    render.locator("td[data-at=lead] a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Render")
    expect(page.locator("main")).to_contain_text("In the service's own words")


def test_a_filter_is_chosen_and_taken_off_without_a_new_page(desk_of: Callable[..., Desk]) -> None:
    page = opened(desk_of("Vera", viewport=WIDE).page)
    page.locator("#chip-direction").select_option("in")
    expect(page.locator("#ledger-chips .chip--on")).to_contain_text("in")
    assert page.url.endswith("/ledger/?direction=in")
    assert page.evaluate(MARKED), "it was loaded again"
    page.get_by_label("Credits: take the filter off").press("Enter")
    expect(page.locator("#ledger-chips .chip--on")).to_have_count(0)
    assert page.url.endswith("/ledger/")


def test_the_file_has_the_rows_of_the_page(desk_of: Callable[..., Desk]) -> None:
    page = opened(desk_of("Thea", viewport=WIDE).page)
    shown = page.locator("#ledger-entries tbody tr:not(.table__group)").count()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Export CSV").click()
    assert waiting.value.suggested_filename == "ledger-30-days.csv"
    with Path(waiting.value.path()).open(newline="", encoding="utf-8-sig") as file:
        assert len(list(csv.DictReader(file))) >= shown


def opened(page: Page) -> Page:
    page.goto("/ledger/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(MARK)
    return page
