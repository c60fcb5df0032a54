"""`make bench`: how soon an open page shows what a poll read, and what the service booked."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser import chromium as finder
from tests.browser.member_page import MemberPage, sign_in
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import SandboxControl
from tests.browser.update_latency import measure_update_delays
from tests.leaks import Canaries

RENDERS, DEBITS = 24, 3
# Seconds between two readings of a ledger (proxyapi/ledger/sync_schedule.py)
MIRROR_INTERVAL_S = 60.0
MAX_LATENCY_MS = 2 * MIRROR_INTERVAL_S * 1000  # milliseconds


def main(folder: Path) -> bool:
    """Print the seconds; whether the longest of each is as wanted."""
    with sync_playwright() as playwright:
        path = finder.find_chromium(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=finder.CHROMIUM_OPTIONS)
        for site in running_portal(folder):
            with SandboxControl(site.sandbox, Canaries()) as stage:
                luca, vera = (
                    open_member_page(browser, site, "Luca"),
                    open_member_page(browser, site, "Vera"),
                )
                looks = measure_update_delays(site, luca, vera, stage, RENDERS)
                debits = [
                    measure_ledger_latency(luca, vera, stage, number) for number in range(DEBITS)
                ]
    held = [
        print_latency(f"look to open page, {RENDERS} renders", looks, 1),
        print_latency(
            f"outside debit to open ledger, {DEBITS} debits", debits, MIRROR_INTERVAL_S + 1
        ),
    ]
    return all(held)


def measure_ledger_latency(
    luca: MemberPage, vera: MemberPage, stage: SandboxControl, number: int
) -> float:
    """Seconds from a debit of another program to its row in an open ledger, at worst: it comes
    right after the ledger was read."""
    guest, label = stage.create_account(), f"Another program {number}"
    luca.use_token_of(guest)
    stage.control_request("POST", f"accounts/{guest.account}/spend", credits=33, label="Read once")
    vera.page.goto("/ledger/")
    expect(vera.page.locator("#ledger-entries")).to_contain_text(
        "Read once", timeout=MAX_LATENCY_MS
    )
    stage.control_request("POST", f"accounts/{guest.account}/spend", credits=34, label=label)
    begun = time.monotonic()
    expect(vera.page.locator("#ledger-entries")).to_contain_text(label, timeout=MAX_LATENCY_MS)
    return time.monotonic() - begun


def print_latency(what: str, seconds: Sequence[float], wanted: float) -> bool:
    slowest = max(seconds)
    print(
        f"{what}: median {statistics.median(seconds):.3f} s, max {slowest:.3f} s; "
        f"wanted: at most {wanted:.0f} s: {'ok' if slowest <= wanted else 'FALLS SHORT'}\n"
    )
    return slowest <= wanted


def open_member_page(browser: Browser, site: LivePortal, first_name: str) -> MemberPage:
    page = browser.new_context(base_url=site.portal).new_page()
    sign_in(page, site.person(first_name))
    return MemberPage(page)
