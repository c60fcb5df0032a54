"""What arrives while somebody presses, saves or tabs takes nothing out of their hands."""

from __future__ import annotations

from decimal import Decimal

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.models import Budget, Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until

REMEMBER = "window.part = document.querySelector('#budgets')"
REPLACED = "window.part !== document.querySelector('#budgets')"


@pytest.fixture
def page(thea: Membership, open_page: OpenPage) -> Page:
    """The budgets: a part that fetches itself, with a link in it that opens a dialog."""
    Budget.objects.create(team=thea.team, hard=Decimal(10_000))
    page = open_page(thea, "/budgets/")
    page.evaluate(REMEMBER)
    return page


def link(page: Page) -> Locator:
    return page.locator("#budgets").get_by_role("link", name="Change")


def test_enter_in_a_limit_saves_it(page: Page) -> None:
    link(page).click()
    field = page.locator("dialog[open]").get_by_label("Limit")
    field.fill("9000")
    field.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("#budgets")).to_contain_text("9,000")


def test_the_focus_stays_on_the_link_that_was_swapped(page: Page, page_server: PageServer) -> None:
    link(page).focus()
    page_server.push("touched", "budget")
    wait_until(lambda: page.evaluate(REPLACED))
    expect(link(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_be_visible()
