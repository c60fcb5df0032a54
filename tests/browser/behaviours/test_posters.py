"""Pictures of cards: asked for again while a film is still being made, without a word about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Route, expect

from dashboard.models import Membership
from proxyapi.sandbox.media import encode
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.plainclip import write_plain_film
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.behaviours.test_film_scenes import fulfill_range
from tests.dashboard.library import conftest as library

token, make_video_job = library.token, library.make_video_job
WIDTH, HEIGHT = 64, 36
ASK_AGAIN_MS = 20_000  # of static/js/posters/card_pictures.js


def test_a_frame_that_is_not_there_yet_is_asked_for_again(
    luca: Membership, make_video_job: library.MakeVideoJob, open_page: OpenPage, tmp_path: Path
) -> None:
    write_plain_film(Film(script="", seconds=4), tmp_path / "film.mp4")
    content, asked = (tmp_path / "film.mp4").read_bytes(), []
    make_video_job("completed")

    def answer_still(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=204) if len(asked) == 1 else fulfill_range(route, content)

    page = open_page(luca, "/tokens/")
    page.clock.install()
    page.route("**/poster/", lambda route: route.fulfill(status=204))
    page.route("**/media/?still=1", answer_still)
    page.goto("/library/")
    film = page.locator("main .video video").first
    expect(film).to_have_js_property("networkState", 3)  # no source
    page.clock.run_for(ASK_AGAIN_MS)
    expect(film).to_have_js_property("readyState", 4)
    assert asked[0] == asked[1]


def film_with_black_start(path: Path, black_s: float, bright_s: float) -> bytes:
    chroma = Image.new("L", (WIDTH // 2, HEIGHT // 2), 128)
    black, bright = ((Image.new("L", (WIDTH, HEIGHT), luma), chroma, chroma) for luma in (16, 200))
    counts = (round(black_s * encode.FRAME_RATE), round(bright_s * encode.FRAME_RATE))
    frames = [*[black] * counts[0], *[bright] * counts[1]]
    encode.write(path, (WIDTH, HEIGHT), frames, None)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("black_s", "bright_s", "shown_s"),
    [(1, 3, 1.2), (2, 2, 3), (4, 0, 3)],  # a card asks for 1.2 s; the last film is all black
)
def test_a_film_that_begins_black_shows_a_later_frame(
    black_s: float,
    bright_s: float,
    shown_s: float,
    luca: Membership,
    make_video_job: library.MakeVideoJob,
    open_page: OpenPage,
    tmp_path: Path,
) -> None:
    content = film_with_black_start(tmp_path / "film.mp4", black_s, bright_s)
    make_video_job("completed")
    page = open_page(luca, "/tokens/")
    page.route("**/poster/", lambda route: route.fulfill(status=204))
    page.route("**/media/?still=1", lambda route: fulfill_range(route, content))
    page.goto("/library/")
    film = page.locator("main .video video").first
    expect(film).to_have_js_property("readyState", 4)
    expect(film).to_have_js_property("currentTime", shown_s)
    expect(film).to_have_js_property("seeking", False)
