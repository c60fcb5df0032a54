"""`make bench`: how soon an open page shows what a look at the service saw."""

from __future__ import annotations

import statistics
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium as finder
from tests.browser.desk import Desk, sign_in
from tests.browser.house import House, running_house
from tests.browser.seen import waits_of
from tests.browser.stage import Stage
from tests.leaks import Canaries

RENDERS = 24
WANTED = 1.0  # seconds


def main(folder: Path) -> bool:
    """Print the seconds from look to page; whether the longest is as wanted."""
    with sync_playwright() as playwright:
        path = finder.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=finder.OPTIONS)
        for house in running_house(folder):
            waits = watch(browser, house)
    slowest = max(waits)
    print(
        f"look to open page, {RENDERS} renders: median {statistics.median(waits):.3f} s, "
        f"max {slowest:.3f} s; wanted: at most {WANTED:.0f} s: "
        f"{'ok' if slowest <= WANTED else 'FALLS SHORT'}\n"
    )
    return slowest <= WANTED


def watch(browser: Browser, house: House) -> list[float]:
    with Stage(house.sandbox, Canaries()) as stage:
        luca, vera = desk(browser, house, "Luca"), desk(browser, house, "Vera")
        return waits_of(house, luca, vera, stage, RENDERS)


def desk(browser: Browser, house: House, first_name: str) -> Desk:
    page = browser.new_context(base_url=house.portal).new_page()
    sign_in(page, house.person(first_name))
    return Desk(page)
