"""The ledger in a browser: entries come by themselves, filters by keyboard, the file by a press."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage, sign_in
from tests.browser.portal_process import OUTSIDE_VARIABLES, DemoPerson, LivePortal
from tests.browser.sandbox_control import SandboxControl

BOOKED = 90_000  # milliseconds at most; what comes later than its early reading has its minute
WIDE: ViewportSize = {"width": 1440, "height": 1000}
# Pages whose picture wants years of books.
ROWS = "#ledger-entries tbody:not(.pending) tr:not(.table__group)"
SEARCH = re.compile(r"/ledger/\?q=glacier")
MARK, MARKED = "window.sameDocument = true", "window.sameDocument === true"


def test_what_was_booked_comes_into_an_open_ledger(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, thea, guest = (
        open_member_page("Luca"),
        open_member_page("Thea", viewport=WIDE),
        sandbox_control.create_account(),
    )
    luca.use_token_of(guest)
    page = open_ledger(thea.page)
    cost = luca.shown_cost(luca.make_video("Booked while you look"))
    # It comes as the service's words, and again when its charge is found.
    rows = page.locator(ROWS, has_text="Booked while you look")
    render = rows.filter(has_text="Render").first
    expect(render).to_contain_text(f"\N{MINUS SIGN}{cost}", timeout=BOOKED)
    expect(page.locator("#ledger-totals")).to_contain_text("Luca")
    assert page.evaluate(MARKED), "it was loaded again"
    render.locator("td[data-at=lead] a").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Render")
    expect(page.locator("main")).to_contain_text("Original data")


def test_a_filter_is_chosen_and_taken_off_without_a_new_page(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_ledger(open_member_page("Vera", viewport=WIDE).page)
    page.locator("#chip-direction").select_option("in")
    expect(page.locator("#ledger-chips .chip--on")).to_contain_text("in")
    assert page.url.endswith("/ledger/?direction=in")
    assert page.evaluate(MARKED), "it was loaded again"
    page.get_by_label("Credits: clear filter").press("Enter")
    expect(page.locator("#ledger-chips .chip--on")).to_have_count(0)
    assert page.url.endswith("/ledger/")


def test_a_text_and_two_days_are_filters_that_keep_each_other(
    open_member_page: Callable[..., MemberPage],
) -> None:
    """A half-typed day keeps its text when the list is swapped."""
    page = open_ledger(open_member_page("Vera", viewport=WIDE, locale="en-US").page)
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


def test_the_file_has_the_rows_of_the_page(open_member_page: Callable[..., MemberPage]) -> None:
    page = open_ledger(open_member_page("Thea", viewport=WIDE).page)
    shown = page.locator(ROWS).count()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Export CSV").click()
    assert waiting.value.suggested_filename == "ledger-30-days.csv"
    with Path(waiting.value.path()).open(newline="", encoding="utf-8-sig") as file:
        assert len(list(csv.DictReader(file))) >= shown


def test_an_archive_stands_beside_the_demo(live_portal: LivePortal, chromium: Browser) -> None:
    ada = archived(live_portal)
    with chromium.new_context(base_url=live_portal.portal, viewport=WIDE) as context:
        page = context.new_page()
        sign_in(page, ada)
        open_ledger(page)
        expect(page.locator(ROWS)).to_have_count(50)
        page.get_by_role("link", name="Older").click()
        expect(page.get_by_role("link", name="Back to first page")).to_be_visible()
        page.goto("/ledger/charts/")
        page.locator("[data-chart='balance-says'] > svg").press("End")
        expect(page.locator("#balance-says")).to_contain_text("cr at the end.")


def archived(site: LivePortal) -> DemoPerson:
    """Seeds it as an administrator would, and reads off who owns it."""
    size = {"entries": 4000, "members": 9, "jobs": 400, "days": 90}
    command = [sys.executable, "manage.py", "seed_large_team"]
    command += [f"--{name}={number}" for name, number in size.items()]
    environ = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    environ |= {"REELROOM_VAR": str(site.var), "VIDEO_API_BASE_URL": f"{site.sandbox}/v2"}
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    words = next(line for line in done.stdout.splitlines() if "signs in with" in line).split()
    return DemoPerson("Ada Archer", words[-5], words[-1], "owner")


def open_ledger(page: Page) -> Page:
    page.goto("/ledger/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(MARK)
    return page


@pytest.mark.parametrize("path", ["/ledger/", "/library/"])
def test_on_a_phone_the_filters_open_again_and_again(
    path: str, open_member_page: Callable[..., MemberPage]
) -> None:
    page = open_member_page("Vera").page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(path)
    sheet = page.locator("#filters")
    for _ in range(2):
        page.get_by_role("button", name="Filters").click()
        expect(sheet).to_be_visible()
        sheet.get_by_role("button", name="Cancel").click()
        expect(sheet).to_be_hidden()


def test_on_a_phone_the_sheet_has_the_filters_of_its_page(
    open_member_page: Callable[..., MemberPage],
) -> None:
    """Those that were taken off beside it, and a search that was on its way when it was opened; of
    what was chosen in it and not shown, nothing."""
    page = open_member_page("Vera").page
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/ledger/?direction=in&period=all")
    sheet, choice = page.locator("#filters"), page.locator("#filters [name=direction]")
    page.locator("#chip-direction").select_option("")
    page.wait_for_url("**/ledger/?period=all")
    page.get_by_role("button", name="Filters").click()
    expect(choice).to_have_value("")
    choice.select_option("out")
    sheet.get_by_role("button", name="Cancel").click()
    with hold_response(page, SEARCH):
        page.locator("#ledger-search").press_sequentially("glacier")
        page.get_by_role("button", name="Filters").click()
        expect(choice).to_have_value("")
        choice.select_option("out")
    page.wait_for_url("**/ledger/?q=glacier&period=all")
    expect(choice).to_have_value("out")
    sheet.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile("q=glacier.*direction=out"))


def test_two_quick_choices_are_both_in_the_charts(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Vera", viewport=WIDE).page
    page.goto("/ledger/charts/")
    with hold_response(page, re.compile(r"/charts/\?")):
        page.locator("#chip-period").select_option("90d")
        page.locator("#chip-account").select_option(index=1)
    page.wait_for_url(re.compile(r"period=90d&account=\w+"))
    expect(page.locator("#chip-account")).not_to_have_value("")
    expect(page.locator("#chip-period")).to_have_value("90d")
