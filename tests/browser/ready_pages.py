"""A page is used once its scripts listen: a button may be shown before, and its press would be lost
or, of a form, lead to a page of its own."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.browser.member_page import DEFAULT_TIMEOUT_MS

# Deferred scripts have run by then.
MARK_READY_JS = """document.addEventListener("DOMContentLoaded",
    () => document.documentElement.toggleAttribute("data-scripts-listen", true))"""


def wait_for_scripts(page: Page) -> None:
    """From now on, before each action and expectation; an action waits as long as those."""
    page.context.set_default_timeout(DEFAULT_TIMEOUT_MS)
    page.add_init_script(MARK_READY_JS)
    page.add_locator_handler(page.locator("html:not([data-scripts-listen])"), lambda: None)
