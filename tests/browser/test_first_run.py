"""`DEMO=none make run`: from nothing to the first film.

One person sets the installation up with the code of its log and makes a video at once. A stranger
without JavaScript comes too early and guesses a code. The sandbox answers in the shapes of version
1 of the service, where the other journeys have those of the specification.
"""

from __future__ import annotations

import re
from pathlib import Path

import httpx
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser.media import expect_playing
from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal, portal_context
from tests.browser.ready_pages import new_page
from tests.browser.test_first_video import create_video

CODE = re.compile(r"set-up code ([2-9A-Z]{4}-[2-9A-Z]{4})")
PASSWORD = "a lantern over the ice"
WIDE = ViewportSize(width=1440, height=900)
# Milliseconds on two busy cores: for an answer, and for a film.
FILM_WITHIN = 120_000


def printed_codes(portal: LivePortal) -> list[str]:
    return [found[1] for line in list(portal.lines) if (found := CODE.search(line))]


def fill_owner(page: Page, code: str) -> None:
    page.get_by_label("Set-up code").fill(code)
    page.get_by_label("Team").fill("Northlight")
    page.get_by_label("Time zone").fill("Stockholm")
    page.get_by_label("Your name").fill("Mira Sandvik")
    page.get_by_label("E-mail").fill("mira@northlight.example")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()


def come_without_javascript(chromium: Browser, portal: LivePortal, answer: str) -> None:
    """A stranger guesses the code."""
    with chromium.new_context(base_url=portal.portal, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/library/")
        assert page.url.endswith("/setup/")
        if page.get_by_label("Set-up code").count():
            fill_owner(page, "AAAA-AAAA")
        expect(page.get_by_text(answer).first).to_be_visible()


def set_up(page: Page, code: str) -> None:
    page.goto("/")
    expect(page.get_by_label("Set-up code")).to_be_focused()
    assert serious_violations(page) == []
    fill_owner(page, code)
    expect(page.get_by_text("Use the sandbox")).to_be_visible()
    assert serious_violations(page) == []
    page.get_by_role("button", name="Connect").click()
    expect(page.get_by_text("Connected to Northlight.")).to_be_visible()
    page.get_by_role("link", name="Continue").click()
    page.get_by_label("E-mail addresses").fill("jonas@northlight.example")
    assert serious_violations(page) == []
    page.get_by_role("button", name="Send and finish").click()
    expect(page.locator("#overview-getting_started")).to_contain_text("1 of 3 done")
    assert serious_violations(page) == []


def test_an_installation_is_set_up_from_nothing_to_the_first_film(
    tmp_path: Path, chromium: Browser
) -> None:
    with portal_context(tmp_path, DEMO="none") as portal:
        change = {"dialect": "service-v1", "films": "plain"}
        address = f"{portal.sandbox}/_sandbox/settings"
        settings = httpx.put(address, json=change, timeout=60, trust_env=False)
        assert settings.json()["dialect"] == "service-v1"
        (code,) = printed_codes(portal)
        come_without_javascript(chromium, portal, "This is not the newest set-up code")
        with chromium.new_context(
            base_url=portal.portal, viewport=WIDE, reduced_motion="reduce"
        ) as context:
            page = new_page(context)
            set_up(page, code)
            create_video(page)
            expect(page.locator(".player video")).to_be_attached(timeout=FILM_WITHIN)
            expect_playing(page.locator(".player video"))
            page.goto("/")
            expect(page.locator("#overview-getting_started")).to_contain_text("2 of 3 done")
        assert sum(code in line for line in portal.lines) == 1
