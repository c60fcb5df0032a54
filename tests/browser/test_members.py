"""A team is run from the members page: one browser invites, changes a role and removes, in another
one the invited person joins."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal
from tests.browser.ready_pages import new_page
from tests.browser.sandbox_control import wait_until

OpenPage = Callable[..., Page]
PASSWORD = "a lantern over the ice"
LED_AWAY_TIMEOUT_MS = 60_000  # the stream ends within 5 s, then the page asks for itself


def links_in_mails(site: LivePortal) -> list[str]:
    """The links of all invitations so far: without a mail server they are in the output."""
    found = (re.search(rf"{site.portal}/join/\S+", line) for line in list(site.lines))
    return [match.group() for match in found if match]


def expect_shown(locator: Locator) -> None:
    expect(locator).to_be_visible()


def join(page: Page, link: str) -> None:
    page.goto(link)
    expect_shown(page.get_by_text("We plan the December series here."))
    assert serious_violations(page) == []
    page.get_by_label("Your name").fill("Noor Haddad")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat password").fill(PASSWORD)
    page.get_by_role("button", name="Make an account and join").click()
    expect_shown(page.get_by_text("You joined Northlight."))


def change_role(page: Page, row: Locator) -> None:
    row.get_by_label("Role of Noor Haddad", exact=True).select_option("producer")
    expect_shown(page.get_by_text("Noor is a producer now."))
    page.get_by_role("button", name="Undo").click()
    expect_shown(page.get_by_text("Noor is a viewer now."))


def deactivate(page: Page, row: Locator) -> None:
    row.get_by_role("button", name="Actions for Noor Haddad").click()
    page.get_by_role("button", name="Deactivate").click()
    dialog = page.get_by_role("dialog", name="Deactivate Noor Haddad?")
    expect_shown(dialog.get_by_text("It takes on nothing new."))
    dialog.get_by_role("button", name="Deactivate Noor Haddad").click()
    expect_shown(row.get_by_text("deactivated"))


def remove(page: Page, row: Locator) -> None:
    row.get_by_role("button", name="Actions for Noor Haddad").click()
    page.get_by_role("button", name="Remove from the team").click()
    dialog = page.get_by_role("dialog", name="Remove Noor Haddad?")
    expect_shown(dialog.get_by_text("No token, render, draft or budget"))
    dialog.get_by_role("button", name="Remove Noor Haddad").click()
    expect_shown(page.get_by_text("Noor Haddad was removed from Northlight."))


def invite(page: Page, addresses: str) -> None:
    page.get_by_role("button", name="Invite people").click()
    dialog = page.get_by_role("dialog", name="Invite people")
    dialog.get_by_label("E-mail addresses").fill(addresses)
    dialog.get_by_label("Viewer").check()
    dialog.get_by_label("Message").fill("We plan the December series here.")
    dialog.get_by_role("button", name=re.compile("Send")).click()


def test_mira_invites_somebody_who_joins_in_another_browser(
    open_fresh_page: OpenPage, chromium: Browser, live_portal: LivePortal
) -> None:
    mira = open_fresh_page("Mira")
    mira.goto("/members/")
    invite(mira, "noor.haddad@northlight.example, vera@northlight.example")
    expect_shown(mira.get_by_text("vera@northlight.example is already a member."))
    expect_shown(mira.get_by_text("noor.haddad@northlight.example gets an invitation."))
    expect(mira.get_by_label("E-mail addresses")).to_have_value("vera@northlight.example")
    mira.get_by_role("dialog").get_by_text("Cancel").click()
    wait_until(lambda: bool(links_in_mails(live_portal)))
    with chromium.new_context(base_url=live_portal.portal, reduced_motion="reduce") as context:
        noor = new_page(context)
        join(noor, links_in_mails(live_portal)[-1])
        row = mira.locator("#members tr", has_text="Noor Haddad")
        expect_shown(row)  # without a reload
        change_role(mira, row)
        deactivate(mira, row)
        noor.wait_for_url("**/accounts/login/**", timeout=LED_AWAY_TIMEOUT_MS)  # by itself
        remove(mira, row)
        noor.goto("/members/")
        expect_shown(noor.get_by_role("heading", name="Sign in"))
