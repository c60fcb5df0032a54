"""The first start as a visitor sees it: a team with sixty days behind it, its pictures, a film.

The pictures of the README are taken here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import sign_in
from tests.browser.page_audit import HEIGHT, WIDE
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import wait_until
from tests.browser.screenshots import ScreenshotAlbum

FILM_MS = 90_000
PICTURE_SIZE = {"width": WIDE, "height": 1000}
PICTURED = {
    "overview": ("Mira", "/"),
    "library": ("Mira", "/library/?state=completed"),
    "ideas": ("Priya", "/ideas/"),
    "voices": ("Priya", "/voices/"),
    "characters": ("Priya", "/characters/"),
    "ledger": ("Thea", "/ledger/"),
    "ledger-charts": ("Thea", "/ledger/charts/"),
    "reconciliation": ("Thea", "/reconciliation/"),
    "costs": ("Mira", "/costs/"),
    "forecast": ("Mira", "/forecast/"),
    "budgets": ("Thea", "/budgets/"),
    "top-up": ("Thea", "/top-up/"),
    "alerts": ("Thea", "/alerts/"),
}
OWN_WORDS = """A glacier looks still, and yet it moves. Every winter lays down a layer of snow.
Under its own weight the snow turns to ice, blue and dense, and it flows like slow water."""
IN_VIEW_WITHOUT_PICTURE_JS = """() => [...document.querySelectorAll("video[data-still]")]
    .filter((film) => film.getBoundingClientRect().top < innerHeight).length"""


@pytest.fixture(scope="module")
def full_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    yield from running_portal(tmp_path_factory.mktemp("past"), DEMO="full")


@pytest.fixture(scope="module")
def past_contexts() -> Iterator[dict[str, BrowserContext]]:
    """A browser context of each member who has signed in."""
    contexts: dict[str, BrowserContext] = {}
    yield contexts
    for context in contexts.values():
        context.close()


@pytest.fixture
def open_past_page(
    chromium: Browser, full_portal: LivePortal, past_contexts: dict[str, BrowserContext]
) -> Iterator[Callable[[str], Page]]:
    """Opens a page of a member, who signs in once. Each open page holds a connection for its
    events, and a browser has six."""
    contexts = past_contexts

    def open_page(first_name: str) -> Page:
        if first_name not in contexts:
            contexts[first_name] = chromium.new_context(
                base_url=full_portal.portal,
                viewport=PICTURE_SIZE,  # type: ignore[arg-type]
                reduced_motion="reduce",
            )
            sign_in(contexts[first_name].new_page(), full_portal.person(first_name))
        return contexts[first_name].new_page()

    yield open_page
    for context in contexts.values():
        for page in context.pages:
            page.close()


@pytest.fixture
def mira(chromium: Browser, full_portal: LivePortal) -> Iterator[Page]:
    viewport = {"width": WIDE, "height": HEIGHT}
    with chromium.new_context(base_url=full_portal.portal, viewport=viewport) as context:  # type: ignore[arg-type]
        page = context.new_page()
        sign_in(page, full_portal.person("Mira"))
        yield page


def test_the_first_page_shows_books_that_agree_and_the_newest_videos(mira: Page) -> None:
    mira.goto("/")
    main = mira.locator("main")
    expect(main).to_contain_text("Ledger and balance match")
    expect(main).to_contain_text("Luca requests")
    pictures = mira.locator("#overview-running .frame img")
    mira.evaluate("document.querySelector('#overview-running').scrollIntoView()")
    expect(pictures).to_have_count(4)


def test_a_video_of_the_past_is_made_when_somebody_plays_it(
    mira: Page, full_portal: LivePortal
) -> None:
    before = films(full_portal)
    mira.goto("/library/?state=completed")
    first = mira.locator("article.video").first
    expect(first.locator(".frame img")).to_be_visible()
    assert films(full_portal) == before, "looking at cards makes no film"
    mira.goto(str(first.locator("a.video__title").get_attribute("href")))
    expect(mira.locator("video.player__film")).to_have_js_property("readyState", 4, timeout=FILM_MS)
    assert len(films(full_portal)) == len(before) + 1


def films(portal: LivePortal) -> list[Path]:
    return sorted((portal.var / "sandbox-media").glob("*.mp4"))


@pytest.mark.parametrize("name", PICTURED)
def test_a_page_shows_the_past(
    name: str, open_past_page: Callable[[str], Page], album: ScreenshotAlbum
) -> None:
    first_name, path = PICTURED[name]
    page = open_past_page(first_name)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.goto(path)
    expect(page.locator("main h1")).to_be_visible()
    expect(page.locator("main .bone")).to_have_count(0)
    expect(page.locator("main .empty")).to_have_count(0)
    if name == "overview":
        expect(page.locator("main")).to_contain_text("The credits run out", timeout=FILM_MS)
    wait_until(lambda: not page.evaluate(IN_VIEW_WITHOUT_PICTURE_JS))
    album.take(page, name)
    assert complaints == []


def test_the_studio_knows_the_past_of_each_type(
    open_past_page: Callable[[str], Page], album: ScreenshotAlbum
) -> None:
    page = open_past_page("Mira")
    page.goto("/studio/")
    expect(page.locator(".flow")).to_have_count(6)  # four types, clips and storyboards
    expect(page.locator(".flow .amount")).to_have_count(6)
    expect(page.locator(".preset")).to_have_count(2)
    field, reading = page.locator("textarea[name=start]"), page.locator("#id_start_help")
    field.fill("Why glaciers are blue")
    expect(reading).to_contain_text("Reads as a topic")
    wait_until(lambda: not page.evaluate(IN_VIEW_WITHOUT_PICTURE_JS))
    album.take(page, "studio")
    field.fill(" ".join(OWN_WORDS.split() * 2))  # as long as the AI clips of the past
    expect(reading).to_contain_text("Reads as a script")
    page.get_by_role("button", name="AI clips").click()
    page.wait_for_url("**/studio/*-*/*/")
    page.goto(re.sub(r"[\w-]+/$", "visuals/", page.url))
    page.get_by_role("radio", name="Kestrel Voice", exact=False).first.check()
    expect(page.locator(".rate")).to_contain_text("Kestrel Voice")
    expect(page.locator(".figure").first).to_contain_text("≈")
    album.take(page, "visuals")
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Each dot is one of your last")
    album.take(page, "price")


def test_a_film_of_the_past_plays(
    open_past_page: Callable[[str], Page], album: ScreenshotAlbum
) -> None:
    page = open_past_page("Luca")
    page.goto("/library/?state=completed&type=ai-visuals&format=16:9")
    # Not the newest one, whose film another test waits for.
    title = page.locator("article.video a.video__title").nth(1)
    address = str(title.get_attribute("href"))
    wait_until(lambda: page.request.get(f"{address}media/", timeout=FILM_MS).ok, seconds=180)
    page.goto(address)
    expect_playing(page.locator("video.player__film"))
    album.take(page, "video")
