"""Credits are managed by keyboard alone, and keys do only what the person may do."""

from __future__ import annotations

from django.urls import reverse
from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import Account
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.keyboard import press, write
from tests.storyboards import create_storyboard, create_storyboard_token


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


def test_keys_that_change_a_storyboard_do_nothing_for_its_readers(
    priya: Membership, vera: Membership, open_page: OpenPage
) -> None:
    storyboard = create_storyboard(priya, create_storyboard_token(priya), "Waves", "A lamp")
    page = open_page(vera, reverse("storyboard", args=[storyboard.pk]))
    first = page.locator("[data-board] .scene").first
    for key in ("Delete", "Alt+ArrowRight"):
        first.press(key)  # a script that fails writes to the console, which fails the test
    expect(first).to_contain_text("Waves")
    assert storyboard.scenes.count() == 2
