"""A new draft from a video, and two versions with one total."""

from __future__ import annotations

import re
from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import AXE_OPTIONS, SERIOUS_VIOLATIONS_JS
from tests.browser.sandbox_control import SandboxControl


def test_two_versions_of_a_new_draft_are_rendered_with_one_total(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    first = luca.create_draft("How an estuary fills")
    page = luca.page
    page.goto("/library/?q=estuary")
    page.get_by_role("link", name="Actions for How an estuary fills").click()
    page.get_by_role("button", name="New from this").click()
    page.wait_for_url(re.compile(rf"/studio/(?!{first})[\da-f-]{{36}}/"))
    luca.open_review(page.url.split("/")[4])
    page.get_by_role("link", name="Render several versions").click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_role("radio", name="Voice").check()
    dialog.get_by_label("Version 2").locator("visible=true").select_option(index=2)
    dialog.get_by_role("button", name="Create versions").click()
    page.wait_for_url("**/library/versions/**")
    page.get_by_role("link", name="Render 2 versions").click()
    expect(dialog).to_contain_text("Total estimate")
    assert serious_violations(page) == []
    dialog.get_by_role("button", name="Render 2 versions").click()
    expect(page.locator(".toast")).to_contain_text("2 versions were sent.")
    expect(page.locator(".player video")).to_have_count(2, timeout=2 * RENDERED_TIMEOUT_MS)
    assert serious_violations(page) == []
    keep_first_version(page)


def keep_first_version(page: Page) -> None:
    page.get_by_role("button", name="Keep version 1, hide the others").click()
    expect(page.locator("main")).to_contain_text("1 version is hidden.")
    expect(page.locator(".toast")).to_contain_text("Version 1 is kept.")


def serious_violations(page: Page) -> list[str]:
    page.evaluate(Axe().axe_script)
    found: list[str] = page.evaluate(SERIOUS_VIOLATIONS_JS, AXE_OPTIONS)
    return found
