"""`make bench`: how soon an open page shows what a look saw, and what the service booked."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser import chromium as finder
from tests.browser.desk import Desk, sign_in
from tests.browser.house import House, running_house
from tests.browser.seen import waits_of
from tests.browser.stage import Stage
from tests.leaks import Canaries

RENDERS, DEBITS = 24, 3
MIRRORED = 60.0  # seconds between two readings of a ledger (proxyapi/ledger/sync_schedule.py)
LATE = 2 * MIRRORED * 1000  # milliseconds


def main(folder: Path) -> bool:
    """Print the seconds; whether the longest of each is as wanted."""
    with sync_playwright() as playwright:
        path = finder.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=finder.OPTIONS)
        for house in running_house(folder):
            with Stage(house.sandbox, Canaries()) as stage:
                luca, vera = desk(browser, house, "Luca"), desk(browser, house, "Vera")
                looks = waits_of(house, luca, vera, stage, RENDERS)
                debits = [booked(luca, vera, stage, number) for number in range(DEBITS)]
    held = [
        tell(f"look to open page, {RENDERS} renders", looks, 1),
        tell(f"outside debit to open ledger, {DEBITS} debits", debits, MIRRORED + 1),
    ]
    return all(held)


def booked(luca: Desk, vera: Desk, stage: Stage, number: int) -> float:
    """Seconds from a debit of another program to its row in an open ledger, at worst: it comes
    right after the ledger was read."""
    guest, label = stage.account(), f"Another program {number}"
    luca.join(guest)
    stage.ask("POST", f"accounts/{guest.account}/spend", credits=33, label="Read once")
    vera.page.goto("/ledger/")
    expect(vera.page.locator("#ledger-entries")).to_contain_text("Read once", timeout=LATE)
    stage.ask("POST", f"accounts/{guest.account}/spend", credits=34, label=label)
    begun = time.monotonic()
    expect(vera.page.locator("#ledger-entries")).to_contain_text(label, timeout=LATE)
    return time.monotonic() - begun


def tell(what: str, seconds: Sequence[float], wanted: float) -> bool:
    slowest = max(seconds)
    print(
        f"{what}: median {statistics.median(seconds):.3f} s, max {slowest:.3f} s; "
        f"wanted: at most {wanted:.0f} s: {'ok' if slowest <= wanted else 'FALLS SHORT'}\n"
    )
    return slowest <= wanted


def desk(browser: Browser, house: House, first_name: str) -> Desk:
    page = browser.new_context(base_url=house.portal).new_page()
    sign_in(page, house.person(first_name))
    return Desk(page)
