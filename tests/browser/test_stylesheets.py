"""What is served for the sheets of the sources, as a browser reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from playwright.sync_api import Browser

from dashboard.static_files.bundles import STYLE_BUNDLE, files_to_link
from tests.browser.portal_process import LivePortal

SERVED = """async () => {
    const { href } = document.querySelector('link[rel="stylesheet"]');
    return (await fetch(href)).text();
}"""
RULES = """(text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return [...sheet.cssRules].map((rule) => rule.cssText);
}"""


def test_the_sheet_that_is_served_has_every_rule_of_the_sources(
    live_portal: LivePortal, chromium: Browser
) -> None:
    static = Path(settings.BASE_DIR) / "static"
    sources = "\n".join((static / name).read_text() for name in files_to_link(STYLE_BUNDLE))
    with chromium.new_context(base_url=live_portal.portal) as context:
        page = context.new_page()
        page.goto("/accounts/login/")
        served: Any = page.evaluate(SERVED)
        assert len(served) < len(sources)
        rules = page.evaluate(RULES, served)
        assert len(rules) >= len(files_to_link(STYLE_BUNDLE))
        assert rules == page.evaluate(RULES, sources)
