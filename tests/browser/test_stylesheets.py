"""What is served for the sheets of the sources, as a browser reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page

from dashboard.static_files.bundles import files_to_link
from tests.browser.member_page import MemberPage
from tests.browser.page_audit import PHONE, WAIT_UNTIL_DRAWN_JS, WIDE

SERVED_LENGTH = """async () => {
    const links = [...document.querySelectorAll('link[rel="stylesheet"]')];
    const texts = await Promise.all(links.map(async (link) => (await fetch(link.href)).text()));
    return texts.join("").length;
}"""
USE_SOURCES = """(text) => {
    for (const link of document.querySelectorAll('link[rel="stylesheet"]')) link.disabled = true;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
}"""
# As text: playwright takes minutes for so many values. Of five hundred time zones one is enough.
COMPUTED_STYLES = """() => JSON.stringify([
    ...document.querySelectorAll(":not(option + option)")
].map((element) => {
    const style = getComputedStyle(element);
    // The text of a property may differ, and `background: none` is written as `0 0`.
    const keys = [...style].filter((key) => !/^(--|background-position)/.test(key));
    const values = keys.map((key) => `${key}: ${style.getPropertyValue(key)}`);
    return [`${element.tagName}.${element.getAttribute("class")}`, ...values];
}))"""


@pytest.mark.console("net::ERR_FAILED")
def test_the_sheets_that_are_served_style_a_page_as_their_sources_do(
    open_member_page: Callable[..., MemberPage],
) -> None:
    static = Path(settings.BASE_DIR) / "static"
    names = [*files_to_link("css/reelroom.css"), *files_to_link("css/console.css")]
    sources = "\n".join((static / name).read_text() for name in names)
    page = open_member_page("Mira").page
    page.route("**/*.js", lambda route: route.abort())  # nothing changes meanwhile
    page.goto("/members/")
    assert page.evaluate(SERVED_LENGTH) < len(sources)
    served = computed_styles(page)
    page.evaluate(USE_SOURCES, sources)
    for view, elements in computed_styles(page).items():
        assert len(elements) > 200
        for before, now in zip(served[view], elements, strict=True):
            assert before == now, now[0]


def computed_styles(page: Page) -> dict[str, Any]:
    """The style of each element, by theme and width."""
    views = [("light", WIDE), ("dark", PHONE)]
    found = {}
    for theme, width in views:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
        page.evaluate(WAIT_UNTIL_DRAWN_JS)
        found[f"{theme} {width}"] = json.loads(page.evaluate(COMPUTED_STYLES))
    return found
