"""A page is used once its scripts listen: a button may be shown before, and its press would be lost
or, of a form, lead to a page of its own."""

from __future__ import annotations

from playwright.sync_api import BrowserContext, Page

from tests.browser.member_page import DEFAULT_TIMEOUT_MS

# Deferred scripts have run by then.
MARK_READY_JS = """document.addEventListener("DOMContentLoaded",
    () => document.documentElement.toggleAttribute("data-scripts-listen", true))"""


def new_page(context: BrowserContext) -> Page:
    """A page that waits for its scripts before each action and expectation; an action may take as
    long as those."""
    context.set_default_timeout(DEFAULT_TIMEOUT_MS)
    page = context.new_page()
    page.add_init_script(MARK_READY_JS)
    page.add_locator_handler(page.locator("html:not([data-scripts-listen])"), lambda: None)
    return page
