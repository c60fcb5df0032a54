"""The audit log and operations in browsers: live entries, the drawer, the stop of all charges."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.page_audit import MAX_PAGE_BYTES, NARROW, audit_page
from tests.browser.portal_process import LivePortal

REASON, TEAM = "A script went wild", "Northlight"


def change_time_zone(page: Page, zone: str) -> None:
    page.goto("/members/")
    page.get_by_label("Time zone").select_option(zone)
    page.locator("form", has=page.get_by_label("Time zone")).get_by_role("button").click()
    expect(page.get_by_text(f"Time zone set to {zone}")).to_be_visible()


def test_an_entry_arrives_in_an_open_log_and_opens_as_a_drawer(
    open_member_page: Callable[..., MemberPage],
) -> None:
    reader, writer = open_member_page("Jonas").page, open_member_page("Mira").page
    reader.goto("/audit/")
    expect(reader.locator("#live")).to_have_attribute("data-state", "open")
    for zone in ("Europe/Stockholm", "Europe/Berlin"):
        change_time_zone(writer, zone)
    newest = reader.locator("#audit tbody tr:not(.table__group)").first
    expect(newest).to_contain_text("Changed the time zone")
    expect(newest).to_contain_text("Europe/Berlin")
    newest.get_by_role("link").click()
    drawer = reader.locator("#entry:modal")
    expect(drawer).to_contain_text("Europe/Stockholm")
    title = drawer.locator("p").first.inner_text()
    reader.keyboard.press("ArrowDown")
    expect(drawer.locator("p").first).not_to_have_text(title)
    reader.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def test_a_press_verifies_the_chain(open_member_page: Callable[..., MemberPage]) -> None:
    page = open_member_page("Mira").page
    page.goto("/audit/")
    page.get_by_role("button", name="Verify now").click()
    chain = page.locator("#audit-chain")
    expect(chain).to_contain_text("Chain verified to entry")
    expect(chain).to_have_attribute("data-state", "good")


@contextmanager
def actor_changed_by_hand(var: Path) -> Iterator[int]:
    """The position of the team's newest entry, whose actor is another one meanwhile."""
    newest = "SELECT id, position, actor_name FROM dashboard_auditevent WHERE team_name = ?"
    change = "UPDATE dashboard_auditevent SET actor_name = ? WHERE id = ?"
    with closing(sqlite3.connect(var / "reelroom.sqlite3", timeout=30)) as database:
        newest += " ORDER BY position DESC LIMIT 1"
        id, position, name = database.execute(newest, (TEAM,)).fetchone()
        database.execute(change, ("Somebody else", id))
        database.commit()
        try:
            yield position
        finally:
            database.execute(change, (name, id))
            database.commit()


def test_an_entry_that_was_changed_by_hand_is_found_and_named(
    open_member_page: Callable[..., MemberPage], live_portal: LivePortal
) -> None:
    page = open_member_page("Mira").page
    change_time_zone(page, "Europe/Stockholm")
    change_time_zone(page, "Europe/Berlin")
    chain = page.locator("#audit-chain")
    with actor_changed_by_hand(live_portal.var) as position:
        page.goto("/audit/")
        page.get_by_role("button", name="Verify now").click()
        expect(chain).to_have_attribute("data-state", "failed")
        expect(chain).to_contain_text(re.compile(rf"\b{position:,}\b.*was changed"))
        expect(page.get_by_role("link", name="CSV")).to_be_visible()
    page.get_by_role("button", name="Verify now").click()
    expect(chain).to_have_attribute("data-state", "good")


def test_a_stop_shows_on_every_open_page_until_it_is_lifted(
    open_member_page: Callable[..., MemberPage],
) -> None:
    producer, owner = open_member_page("Priya").page, open_member_page("Mira").page
    producer.goto("/library/")
    expect(producer.locator("#live")).to_have_attribute("data-state", "open")
    owner.goto("/operations/")
    owner.get_by_role("link", name="Stop all charges").click()
    owner.get_by_label("Why").fill(REASON)
    owner.get_by_role("button", name="Stop all charges").click()
    expect(producer.locator("#charge-stop")).to_contain_text(REASON)
    owner.get_by_role("link", name="Allow charges").click()
    owner.get_by_role("button", name="Allow charges").click()
    expect(producer.locator("#charge-stop")).to_be_hidden()


@pytest.mark.parametrize("path", ["/audit/", "/operations/"])
def test_the_pages_are_accessible_and_light(
    path: str,
    open_member_page: Callable[..., MemberPage],
    chromium: Browser,
    live_portal: LivePortal,
) -> None:
    state = open_member_page("Mira").page.context.storage_state()
    found = audit_page(chromium, live_portal.portal, path, state)
    assert found.complaints == found.violations == found.strangers == []
    assert found.weight <= MAX_PAGE_BYTES
    assert found.narrowest <= NARROW
