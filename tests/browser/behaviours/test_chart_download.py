"""A chart is saved as a file from its own button."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Page, expect

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.ledger.conftest import mark_fully_read, matched, sum_up
from tests.factories import AccountFactory, EntryFactory, TokenFactory

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# A data: address in an <img> is read as any program would read the file.
DRAWN_SIZE_JS = """async (text) => {
    const image = new Image();
    image.src = "data:image/svg+xml," + encodeURIComponent(text);
    await image.decode();
    return image.width;
}"""


@pytest.fixture(autouse=True)
def render(luca: Membership) -> None:
    """A render of Luca's, and one from outside the portal, after a top-up."""
    account = mark_fully_read(AccountFactory.create(tenant=luca.team.tenant))
    token = TokenFactory.create(account=account, owner=luca.user)
    EntryFactory.create(account=account, credit_spend="500", label="Top-up")
    EntryFactory.create(account=account, **matched(token, "faceless.render"))
    EntryFactory.create(account=account)
    sum_up(account)


def test_a_chart_is_saved_as_svg_by_keyboard_in_light_colours_in_both_themes(
    vera: Membership, open_page: OpenPage
) -> None:
    saved = save_svg(open_page(vera, "/", color_scheme="dark"))
    for text in ("Luca", "outside the portal", "today"):
        assert f">{text}</text>" in saved
    assert re.search(r">Spend per day in the last 30 days, \d+ \w+ \d{4}</text>", saved)
    assert not re.search(r"oklch|var\(|class=|style=", saved)
    light = open_page(vera, "/", color_scheme="light")
    assert save_svg(light) == saved
    assert light.evaluate(DRAWN_SIZE_JS, saved) > 300


def save_svg(page: Page) -> str:
    """The spend chart of the overview."""
    button = page.get_by_role("button", name="Download chart: Spend per day in the last 30 days")
    button.focus()
    page.keyboard.press("Enter")
    item = page.locator("#spend-says-files").get_by_text("Download SVG")
    expect(item).to_be_visible()
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    expect(item).to_be_hidden()
    return read(download.value, r"spend-per-day-in-the-last-30-days-\d{4}-\d\d-\d\d\.svg").decode()


def test_a_chart_is_saved_as_png(vera: Membership, open_page: OpenPage) -> None:
    page = open_page(vera, "/ledger/charts/")
    page.get_by_role("button", name="Download chart: Balance over time: Last 30 days").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download PNG").click()
    saved = read(download.value, r"balance-over-time-last-30-days-\d{4}-\d\d-\d\d\.png")
    assert saved.startswith(PNG_SIGNATURE)


def test_the_button_is_hidden_where_it_can_do_nothing(
    vera: Membership, open_page: OpenPage
) -> None:
    page = open_page(vera, "/")
    button = page.get_by_role("button", name="Download chart: Spend")
    expect(button).to_be_visible()
    page.emulate_media(media="print")
    expect(button).to_be_hidden()


def read(download: Download, name: str) -> bytes:
    assert re.fullmatch(name, download.suggested_filename)
    return Path(download.path()).read_bytes()
