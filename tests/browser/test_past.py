"""The first start as a visitor sees it: a team with sixty days behind it, its pictures, a film."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import sign_in
from tests.browser.page_audit import HEIGHT, MAX_PAGE_BYTES, NARROW, WIDE, audit_page
from tests.browser.portal_process import LivePortal, running_portal

PICTURES_MS = 30_000  # five seconds on idle cores, which a test does not have
FILM_MS = 90_000
AUDITED_PAGES = ("/", "/library/", "/ideas/", "/ledger/", "/alerts/")


@pytest.fixture(scope="module")
def full_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    yield from running_portal(tmp_path_factory.mktemp("past"), DEMO="full")


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
    expect(pictures).to_have_count(4, timeout=PICTURES_MS)


def test_a_video_of_the_past_is_made_when_somebody_plays_it(
    mira: Page, full_portal: LivePortal
) -> None:
    mira.goto("/library/?state=completed")
    first = mira.locator("article.video").first
    expect(first.locator(".frame img")).to_be_visible(timeout=PICTURES_MS)
    assert not films(full_portal), "looking at cards makes no film"
    mira.goto(str(first.locator("a.video__title").get_attribute("href")))
    expect(mira.locator("video.player__film")).to_have_js_property("readyState", 4, timeout=FILM_MS)
    assert len(films(full_portal)) == 1


def films(portal: LivePortal) -> list[Path]:
    return list((portal.var / "sandbox-media").glob("*.mp4"))


@pytest.mark.parametrize("path", AUDITED_PAGES)
def test_a_full_page_is_accessible_and_light(
    path: str, mira: Page, chromium: Browser, full_portal: LivePortal
) -> None:
    found = audit_page(chromium, full_portal.portal, path, mira.context.storage_state())
    assert not found.violations
    assert not found.complaints
    assert found.weight <= MAX_PAGE_BYTES
    assert found.narrowest <= NARROW
