"""The promise of the README, kept by a person in a browser over the real processes of `make run`.

Jonas has no token. He signs in, adds one, makes a video with his own words, sees its price before
he pays, watches it render beside Vera, who never reloads her page, and plays it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.portal_process import LivePortal

WIDE = {"width": 1440, "height": 900}
WORDS = """A glacier looks still, and yet it moves. Every winter lays down a layer of snow, and
every summer takes a little of it away. Under its own weight the snow turns to ice, blue and dense.
The ice flows downhill like very slow water, and it carries stones from the mountains to the sea."""


def test_a_newcomer_makes_and_plays_a_video(
    live_portal: LivePortal,
    open_fresh_page: Callable[..., Page],
) -> None:
    vera = open_fresh_page("Vera", viewport=WIDE)
    jonas = open_fresh_page("Jonas", viewport=WIDE)
    complaints: list[str] = []
    for page in (jonas, vera):
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    vera.get_by_role("link", name="Library").first.click()
    add_token(jonas, spare_token(live_portal))
    create_video(jonas)
    card = vera.locator("article.video", has_text="How to read a glacier")
    expect(card.locator(".pill")).to_contain_text(re.compile("Rendering|syncing"))
    expect(card).to_have_attribute("data-state", "completed", timeout=RENDERED_TIMEOUT_MS)
    expect_playing(jonas.locator(".player video"))  # the page changed by itself
    assert (navigation_type(jonas), navigation_type(vera)) == ("navigate", "navigate")
    assert complaints == []


def spare_token(site: LivePortal) -> str:
    """The token of the second paid account, which the demo leaves for people to add."""
    return next(a["token"] for a in site.accounts if a["email"].startswith("shorts@"))


def add_token(page: Page, token: str) -> None:
    """Without a token the studio says where to get one; the token is shown never again."""
    page.get_by_role("link", name="Studio").first.click()
    page.get_by_role("link", name="Add a token").first.click()
    page.get_by_label("API token").fill(token)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_text(f"…{token[-4:]}").first).to_be_visible()
    assert token not in page.content()


def create_video(page: Page) -> None:
    page.get_by_role("link", name="Studio").first.click()
    page.wait_for_url("**/studio/")  # and for its scripts
    page.locator("textarea[name=start]").fill(" ".join(WORDS.split()))
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a script")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("link", name="Type").first.click()
    page.get_by_label("Title").fill("How to read a glacier")
    step(page, "Script")
    step(page, "Voice")
    pick(page, "Marcus Reed")
    step(page, "Visuals")
    pick(page, "Nature Documentary")
    step(page, "Captions")
    step(page, "Review")
    expect(page.locator(".figure").first).to_contain_text("≈")
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Held until the exact price is known")
    dialog.get_by_role("button", name="Render").click()
    page.wait_for_url("**/videos/**")


def step(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Next: {name}").click()


def pick(page: Page, name: str) -> None:
    choice: Locator = page.get_by_role("radio", name=name)
    choice.first.check(force=True)


def navigation_type(page: Page) -> str:
    """How the open page was loaded: `navigate`, unless something reloaded it."""
    return str(page.evaluate("performance.getEntriesByType('navigation')[0].type"))
