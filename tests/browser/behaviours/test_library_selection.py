"""Several videos of the library are selected, labelled, hidden and shown again."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import Membership
from proxyapi.models import Token
from tests.browser.behaviours.conftest import OpenPage
from tests.factories import JobFactory

TITLES = ["Tides of the moon", "Tides of the sun"]


@pytest.fixture
def library(priya: Membership, token: Token, open_page: OpenPage) -> Page:
    for title in TITLES:
        JobFactory.create(account=token.account, token=token, member=priya.user, title=title)
    return open_page(priya, "/library/?q=Tides+of")


def test_labels_for_several_videos_by_keyboard(library: Page) -> None:
    library.get_by_role("link", name="Select", exact=True).click()
    for title in TITLES:
        library.get_by_role("checkbox", name=f"Select {title}").focus()
        library.keyboard.press("Space")
    expect(library.locator("[data-selection-count]")).to_have_text("2 selected")
    library.get_by_role("button", name="Labels").press("Enter")
    library.locator("dialog[open]").get_by_label("New label").fill("Tides")
    library.keyboard.press("Enter")
    expect(library.locator(".toast")).to_contain_text("The labels of 2 videos were changed.")
    library.goto("/library/")
    library.locator("#chip-label").select_option(label="Tides")
    expect(library).to_have_url(re.compile(r"label=[\da-f-]{36}"))
    expect(library.locator("[data-card]")).to_have_count(2)


def test_hidden_together_and_shown_again_by_undo(library: Page) -> None:
    library.goto("/library/?q=Tides+of&select=all")
    library.get_by_role("button", name="Hide").click()
    toast = library.locator(".toast", has_text="2 videos are hidden.")
    toast.get_by_role("button", name="Undo").click()
    expect(library.locator(".toast")).to_contain_text("The change was undone.")
    library.goto("/library/?q=Tides+of")
    expect(library.locator("[data-card]")).to_have_count(2)
