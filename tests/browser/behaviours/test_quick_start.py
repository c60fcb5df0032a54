"""The field of a new video: its reading replaces parts of the form while somebody types and
presses."""

from __future__ import annotations

import pytest
from playwright.sync_api import Dialog, Page, expect

from dashboard.models import Membership
from proxyapi.models import Token
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.studio import conftest as studio

account, token = studio.account, studio.token

# What a press waits for, such as the check of the session, comes after the reading.
FETCH_AFTER_READING_JS = """() => {
    const send = window.fetch;
    const read = new Promise((done) => document.addEventListener("htmx:oobAfterSwap", done));
    window.fetch = (...request) => read.then(() => send(...request));
}"""


@pytest.fixture
def page(priya: Membership, token: Token, open_page: OpenPage) -> Page:
    return open_page(priya, "/studio/")


def test_a_button_that_the_reading_replaces_while_it_is_pressed_still_counts(page: Page) -> None:
    page.evaluate(FETCH_AFTER_READING_JS)
    page.locator("textarea[name=start]").fill("Why glaciers are blue")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/studio/*-*/*/")


def test_the_reading_keeps_typed_words_guarded(page: Page) -> None:
    field, questions = page.locator("textarea[name=start]"), list[str]()

    def stay(dialog: Dialog) -> None:
        questions.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    field.press_sequentially("Glaciers")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a topic")
    page.locator("a[href='/library/']:visible").first.click()
    expect(field).to_have_value("Glaciers")
    assert questions == ["beforeunload"]


def test_the_focus_is_where_the_next_step_is(page: Page) -> None:
    """From the topic to the button that writes the script: five presses of Tab."""
    expect(page.locator("#id_start")).to_be_focused()
    page.keyboard.type("Why glaciers are blue")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/studio/*-*/script/")
    expect(page.get_by_label("Topic")).to_be_focused()
    for _ in range(5):
        page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Write the script")).to_be_focused()
