"""Whether a film plays and a picture loads on a page.

Every wait has a limit, and each look finds the element anew: an update may replace it meanwhile,
and what is no longer part of a page never tells that it has loaded.
"""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.sandbox_control import wait_until

# Answers the seconds played so far. The promise of `play` may never be kept, so nothing awaits it.
PLAY_JS = "film => { film.muted = true; film.play().catch(() => {}); return film.currentTime }"
# Answers the picture's width; one that is loaded lazily has to be in view.
LOAD_JS = "picture => { picture.scrollIntoView(); return picture.naturalWidth }"


def expect_playing(film: Locator) -> None:
    """Start the film, muted, until it is past its first second."""
    expect(film).to_be_attached()
    wait_until(lambda: film.evaluate(PLAY_JS) > 1)


def expect_loaded(picture: Locator) -> None:
    expect(picture).to_be_attached()
    wait_until(lambda: picture.evaluate(LOAD_JS) > 0)
