"""Credits are managed by keyboard alone."""

from __future__ import annotations

from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import Account
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.keyboard import press, write


def test_a_budget_is_added_and_removed_by_keyboard(thea: Membership, open_page: OpenPage) -> None:
    page = open_page(thea, "/budgets/")
    press(page, "main a[href='/budgets/new/']", "Enter")
    expect(page.locator("dialog [data-cancel]")).to_be_focused()
    write(page, "dialog select[name=who]", "The whole")
    write(page, "dialog input[name=hard]", "9000")
    page.keyboard.press("Enter")
    press(page, "#budgets a[href$='/limits/']", "Enter")
    press(page, "dialog [form=limits-end]", "Enter")
    expect(page.locator("#toasts")).to_contain_text("removed")


def test_the_ledger_is_filtered_by_keyboard(
    thea: Membership, account: Account, open_page: OpenPage
) -> None:
    page = open_page(thea, "/ledger/")
    press(page, "#chip-direction", "ArrowDown")
    press(page, "#ledger-chips .chip__off", "Enter")
    expect(page.locator("#ledger-chips .chip--on")).to_have_count(0)
