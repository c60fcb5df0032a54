"""The composer of clips: words counted as the service counts them, and the price question by
keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import Membership
from proxyapi.models import Job
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.clips import conftest as clips
from tests.dashboard.clips.test_prompt_words import PROMPTS

account, token, priced = clips.account, clips.token, clips.priced


@pytest.fixture
def page(priya: Membership, priced: Job, open_page: OpenPage) -> Page:
    """The composer with a priced draft."""
    return open_page(priya, "/studio/clips/")


def test_the_counter_beside_the_prompt_counts_as_the_service_does(page: Page) -> None:
    page.route("**/studio/clips/drafts/", lambda route: route.fulfill(status=204))
    for text, words in PROMPTS.values():
        page.get_by_label("Prompt").fill(text)
        expect(page.locator("#id_prompt_limit")).to_have_text(f"{words:,} of 1,500 words")


def test_by_keyboard_the_price_question_opens_with_the_focus_on_cancel(page: Page) -> None:
    page.get_by_label("Prompt").focus()
    page.keyboard.press("Control+Enter")
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Generate this clip?")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.locator("[name=duration][value='8']").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("[name=duration][value='5']")).to_be_checked()
