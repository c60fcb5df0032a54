"""The film of a storyboard plays by its scenes: pressed, and with comma and full stop."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

from dashboard.models import Membership, Team
from proxyapi.models import Account, Charge
from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.plainclip import write_plain_film
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.sandbox_control import wait_until
from tests.dashboard.library import conftest as library
from tests.dashboard.library.storyboards import conftest as storyboards
from tests.factories import AccountFactory

token, make_video_job = library.token, library.make_video_job
storyboard, make_film = storyboards.storyboard, storyboards.make_film
add_settled_charge, charge_clips = library.add_settled_charge, storyboards.charge_clips


@pytest.fixture
def account(northlight: Team) -> Account:
    return AccountFactory.create(tenant=northlight.tenant, clip_models=[storyboards.MARLOW])


def fulfill_range(route: Route, content: bytes) -> None:
    """What a player asks for of a film; without ranges it cannot be set to a time."""
    start = int(re.sub(r"\D", "", route.request.headers.get("range", "").split("-")[0]) or 0)
    headers = {
        "Accept-Ranges": "bytes",
        "Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}",
    }
    route.fulfill(status=206, content_type="video/mp4", headers=headers, body=content[start:])


def test_a_scene_is_played_from_its_start_and_the_next_ones_by_keyboard(
    priya: Membership,
    make_film: storyboards.MakeFilm,
    charge_clips: Callable[..., Charge],
    open_page: OpenPage,
    tmp_path: Path,
) -> None:
    write_plain_film(Film(script="", seconds=32), tmp_path / "film.mp4")
    job, content = make_film(), (tmp_path / "film.mp4").read_bytes()
    charge_clips(job, (4,), 16)
    page = open_page(priya, "/tokens/")
    page.route("**/media/*", lambda route: fulfill_range(route, content))
    page.goto(f"/videos/{job.pk}/")
    film, scenes = page.locator("video.player__film"), page.locator("[data-film-scenes] .scene")
    wait_until(lambda: film.evaluate("film => film.readyState > 0"))
    scenes.nth(2).click()
    expect(scenes.nth(2)).to_have_attribute("aria-current", "true")
    film.evaluate("film => film.pause()")
    page.keyboard.press(",")
    expect(scenes.nth(1)).to_have_attribute("aria-current", "true")
    assert film.evaluate("film => film.currentTime") == 10
    page.keyboard.press(".")
    page.keyboard.press(".")
    expect(scenes.nth(3)).to_have_attribute("aria-current", "true")
    expect(page.locator(".node[data-scene][aria-current]")).to_contain_text("Scene 4")
