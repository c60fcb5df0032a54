"""The menu beside every page."""

from __future__ import annotations

from playwright.sync_api import expect

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.factories import AccountFactory, TokenFactory


def test_all_entries_of_the_menu_are_visible_at_1440_by_900(
    mira: Membership, open_page: OpenPage
) -> None:
    mira.team.name = "Northlight Media and Pictures of the Far and Middle North"
    mira.team.save()
    account = AccountFactory.create(tenant=mira.team.tenant)
    TokenFactory.create(account=account, owner=mira.user)
    page = open_page(mira, "/studio/", viewport={"width": 1440, "height": 900})
    menu = page.locator(".sidebar__nav")
    assert menu.locator(".nav__item").count() > 12
    assert menu.evaluate("menu => menu.scrollHeight <= menu.clientHeight")
    assert menu.locator(".nav__item").first.evaluate("entry => entry.offsetHeight") == 28
    page.set_viewport_size({"width": 1440, "height": 500})
    expect(page.locator(".sidebar .team-balance")).to_be_in_viewport()
    expect(page.locator(".sidebar .team")).to_be_in_viewport()
