"""A team is run from the members page: one browser invites, changes a role and removes, in another
one the invited person joins."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import PRICED_TIMEOUT_MS
from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import wait_until

OpenPage = Callable[..., Page]
PASSWORD = "a lantern over the ice"


def links_in_mails(site: LivePortal) -> list[str]:
    """The links of all invitations so far: without a mail server they are in the output."""
    found = (re.search(rf"{site.portal}/join/\S+", line) for line in list(site.lines))
    return [match.group() for match in found if match]


def invite(page: Page, addresses: str) -> None:
    page.get_by_role("button", name="Invite people").click()
    dialog = page.get_by_role("dialog", name="Invite people")
    dialog.get_by_label("E-mail addresses").fill(addresses)
    dialog.get_by_label("Viewer").check()
    dialog.get_by_label("Message").fill("We plan the December series here.")
    assert serious_violations(page) == []
    dialog.get_by_role("button", name=re.compile("Send")).click()


def test_mira_invites_somebody_who_joins_in_another_browser(
    open_fresh_page: OpenPage, chromium: Browser, live_portal: LivePortal
) -> None:
    mira = open_fresh_page("Mira")
    mira.goto("/members/")
    invite(mira, "noor.haddad@northlight.example, vera@northlight.example")
    expect(mira.get_by_text("vera@northlight.example is already a member.")).to_be_visible(
        timeout=PRICED_TIMEOUT_MS
    )
    mira.get_by_label("E-mail addresses").fill("noor.haddad@northlight.example")
    expect(mira.get_by_role("button", name="Send invitation")).to_be_visible(
        timeout=PRICED_TIMEOUT_MS
    )
    mira.get_by_role("button", name="Send invitation").click()
    expect(mira.get_by_text("noor.haddad@northlight.example gets an invitation.")).to_be_visible(
        timeout=PRICED_TIMEOUT_MS
    )
    wait_until(lambda: bool(links_in_mails(live_portal)))
    with chromium.new_context(base_url=live_portal.portal) as context:
        noor = context.new_page()
        noor.goto(links_in_mails(live_portal)[-1])
        expect(noor.get_by_text("We plan the December series here.")).to_be_visible(
            timeout=PRICED_TIMEOUT_MS
        )
        assert serious_violations(noor) == []
        noor.get_by_label("Your name").fill("Noor Haddad")
        noor.get_by_label("Password", exact=True).fill(PASSWORD)
        noor.get_by_label("Repeat password").fill(PASSWORD)
        noor.get_by_role("button", name="Make an account and join").click()
        expect(noor.get_by_text("You joined Northlight.")).to_be_visible(timeout=PRICED_TIMEOUT_MS)

        row = mira.locator("#members tr", has_text="Noor Haddad")
        expect(row).to_be_visible(timeout=PRICED_TIMEOUT_MS)  # without a reload
        row.get_by_label("Role of Noor Haddad").select_option("producer")
        expect(mira.get_by_text("Noor is a producer now.")).to_be_visible(timeout=PRICED_TIMEOUT_MS)
        mira.get_by_role("button", name="Undo").click()
        expect(mira.get_by_text("Noor is a viewer now.")).to_be_visible(timeout=PRICED_TIMEOUT_MS)

        row.get_by_role("button", name="Actions for Noor Haddad").click()
        mira.get_by_role("button", name="Remove from the team").click()
        dialog = mira.get_by_role("dialog", name="Remove Noor Haddad?")
        expect(dialog.get_by_text("No token, render, draft or budget")).to_be_visible(
            timeout=PRICED_TIMEOUT_MS
        )
        assert serious_violations(mira) == []
        dialog.get_by_role("button", name="Remove Noor Haddad").click()
        expect(mira.get_by_text("Noor Haddad was removed from Northlight.")).to_be_visible(
            timeout=PRICED_TIMEOUT_MS
        )
        noor.goto("/members/")
        expect(noor.get_by_role("heading", name="Sign in")).to_be_visible(timeout=PRICED_TIMEOUT_MS)
