"""A page without a mouse: Tab, then a key or words."""

from __future__ import annotations

from playwright.sync_api import Page, expect

MAX_TABS = 250  # until something is not reached
IS_FOCUSED_JS = "(element) => element === document.activeElement"


def write(page: Page, selector: str, words: str) -> None:
    reach(page, selector)
    page.keyboard.type(words)


def press(page: Page, selector: str, key: str) -> None:
    reach(page, selector)
    page.keyboard.press(key)


def reach(page: Page, selector: str) -> None:
    """Tab to it from wherever the focus is, as a person does."""
    wanted = page.locator(selector).first
    expect(wanted).to_be_attached()
    for _ in range(MAX_TABS):
        if wanted.evaluate(IS_FOCUSED_JS):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by Tab")
