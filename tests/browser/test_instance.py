"""The operator creates a team, its owner joins in another browser, and is told of the suspension at
once."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import wait_until
from tests.browser.screenshots import ScreenshotAlbum

PASSWORD = "a lantern over the ice"
REASON = "The invoice of October is open"


def join_link(portal: LivePortal) -> str:
    """The newest invitation's link: without a mail server it is in the output."""
    found = [re.search(rf"{portal.portal}/join/\S+", line) for line in list(portal.lines)]
    links = [match.group() for match in found if match]
    return links[-1] if links else ""


def create_team(page: Page, album: ScreenshotAlbum) -> None:
    page.goto("/")
    page.get_by_role("link", name="Instance").first.click()
    page.get_by_role("button", name="Create team").click()
    dialog = page.get_by_role("dialog", name="Create a team")
    dialog.get_by_label("Team").fill("Daybreak")
    dialog.get_by_label("E-mail of the first owner").fill("ana@daybreak.example")
    assert serious_violations(page) == []
    album.take(page, "instance-new-team")
    dialog.get_by_role("button", name="Create team").click()
    expect(page.get_by_text("Daybreak was created.")).to_be_visible()


def join_team(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Your name").fill("Ana Ruiz")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    page.get_by_role("button", name="Make an account and join").click()
    expect(page.get_by_text("You joined Daybreak.")).to_be_visible()


def press_row(page: Page, button: str, dialog: str) -> None:
    row = page.get_by_role("row", name=re.compile("Daybreak"))
    row.get_by_role("button", name=re.compile(button)).click()
    expect(page.get_by_role("dialog", name=re.compile(dialog))).to_be_visible()


def test_the_owner_of_a_suspended_team_is_told_at_once(
    open_fresh_page: Callable[..., Page],
    chromium: Browser,
    live_portal: LivePortal,
    album: ScreenshotAlbum,
) -> None:
    mira = open_fresh_page("Mira", viewport={"width": 1440, "height": 900})
    before = join_link(live_portal)
    create_team(mira, album)
    wait_until(lambda: join_link(live_portal) != before, 60)
    with chromium.new_context(base_url=live_portal.portal) as context:
        ana = context.new_page()
        join_team(ana, join_link(live_portal))
        row = mira.get_by_role("row", name=re.compile("Daybreak"))
        expect(row).to_contain_text("1 member")  # without a reload
        album.take(mira, "instance")
        press_row(mira, "Suspend", "Suspend Daybreak?")
        mira.get_by_label("Why").fill(REASON)
        assert serious_violations(mira) == []
        album.take(mira, "instance-suspend")
        mira.get_by_role("button", name="Suspend Daybreak").click()
        expect(ana.get_by_role("heading", name="Daybreak is suspended")).to_be_visible()
        expect(ana.get_by_text(REASON)).to_be_visible()
        assert serious_violations(ana) == []
        album.take(ana, "suspended")
        press_row(mira, "End suspension", "End the suspension of Daybreak?")
        mira.get_by_role("button", name="End suspension").last.click()
        expect(mira.get_by_text("Daybreak is no longer suspended.")).to_be_visible()
        ana.goto("/")
        expect(ana.get_by_text("Getting started")).to_be_visible()
