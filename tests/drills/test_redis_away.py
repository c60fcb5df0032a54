"""FLUSHALL, and then no Redis for a minute, while a hundred videos render and people order.

The whole portal on a Valkey of its own, which is emptied, ended and started again.
`DRILL_REDIS_AWAY` sets the seconds; five minutes are 300.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import pytest
import redis
from playwright.sync_api import BrowserContext, expect

from dashboard.up import valkey as program
from proxyapi.models.charge import HOLDING_STATES
from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.portal_process import LivePortal, running_portal
from tests.browser.sandbox_control import FAST_SETTINGS, SandboxControl, SandboxGuest, wait_until
from tests.drills import hundred_clips
from tests.drills.figures import Figures
from tests.drills.hundred_clips import HundredClips
from tests.drills.outage import (
    OutageScene,
    get_render_form,
    order_delayed_render,
    prepare_scene,
    signed_in_visitor,
    watched_sandbox,
)
from tests.drills.page_callers import PageCallers, calling_pages, count_answers
from tests.drills.portal_processes import seconds_until

AWAY = float(os.environ.get("DRILL_REDIS_AWAY", "60"))
RENDERS = max(20.0, AWAY / 2)  # seconds
BACK_SECONDS = 10
# Seconds for all of them: to an empty Redis a minute counts as spent, then each token has a round.
ROUND = 90
UNDER_WAY = 5  # seconds that what was begun may take to come
SETTLED = 60_000  # milliseconds for a charge whose answer could not be told
LIMIT = 30  # requests of a token a minute
WANTED = {200, 302, 303, 503}


class PrivateValkey:
    """A Valkey beside the portal, which may end and start again, empty."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / program.SOCKET_NAME
        self.address = f"unix://{self._socket}"

    def start(self) -> None:
        self._process = subprocess.Popen(program.valkey_command(self._socket))
        wait_until(self.answers)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def answers(self) -> bool:
        try:
            return bool(self.client().ping())
        except redis.RedisError:
            return False

    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.address)


@pytest.fixture
def valkey() -> Iterator[PrivateValkey]:
    """Not in pytest's own folder: the name of a socket is a short one."""
    with TemporaryDirectory(prefix="reelroom-redis-") as folder:
        made = PrivateValkey(Path(folder))
        made.start()
        yield made
        made.stop()


@dataclass
class RedisOutage:
    """What is done, and what became of it; moments are in monotonic seconds."""

    of_many: HundredClips
    scene: OutageScene
    callers: PageCallers
    valkey: PrivateValkey
    films: list[str]
    guests: list[SandboxGuest]
    flushed: float = 0.0
    gone: float = 0.0
    back: float = 0.0
    back_at: int = 0  # the journal's number
    pressed: tuple[str, dict[str, str]] = ("", {})  # the video and its form
    took: dict[str, float] = field(default_factory=dict)
    sent: list[hundred_clips.Line] = field(default_factory=list)  # while it was away

    def flush(self) -> None:
        """Somebody orders at once. It goes on when all were looked at again."""
        self.add_fresh_token()
        order = self.scene.luca.create_draft("Ordered after the flush")
        form, number = get_render_form(self.scene.luca, order), self.of_many.now()
        self.valkey.client().flushall()
        self.flushed = time.monotonic()
        self.films.append(order)
        self.callers.press_render(self.scene, order, form)
        seen = lambda: not self.of_many.unpolled_since(number)  # noqa: E731
        seconds_until(lambda: self.check_and_time("flush", seen), ROUND)

    def add_fresh_token(self) -> SandboxGuest:
        """A token that has all of its minute left, for whatever is ordered next."""
        guest = self.of_many.stage.create_account()
        self.scene.luca.use_token_of(guest)
        self.guests.append(guest)
        return guest

    def stop_redis(self) -> None:
        """The answer to one order comes meanwhile, and another is pressed all the time."""
        scene, stage = self.scene, self.of_many.stage
        self.add_fresh_token()
        order = scene.luca.create_draft("Ordered without Redis")
        self.pressed = order, get_render_form(scene.luca, order)
        self.films += [order, order_delayed_render(scene.luca, stage, self.add_fresh_token())]
        self.gone = time.monotonic()
        self.valkey.stop()
        Event().wait(UNDER_WAY)
        number = self.of_many.now()
        while time.monotonic() < self.gone + AWAY:
            self.callers.press_render(scene, *self.pressed)
            Event().wait(1)
        self.sent, self.back_at = self.of_many.sandbox_requests(number), self.of_many.now()

    def restart_redis(self) -> None:
        self.valkey.start()
        self.back = time.monotonic()
        wait_until(lambda: self.callers.press_render(self.scene, *self.pressed) == 302, seconds=60)
        holds = {
            "order": lambda: hundred_clips.charging_requests(self.since_back()),
            "look": lambda: [*hundred_clips.clip_polls(self.since_back())],
            "all": lambda: not self.of_many.unpolled_since(self.back_at),
        }
        seconds_until(
            lambda: sum(self.check_and_time(*one) for one in holds.items()) == len(holds), ROUND
        )

    def since_back(self) -> list[hundred_clips.Line]:
        return self.of_many.sandbox_requests(self.back_at)

    def check_and_time(self, what: str, holds: Callable[[], object]) -> bool:
        """Whether it holds by now; notes the seconds since the last change of Redis if so."""
        if what not in self.took and holds():
            self.took[what] = time.monotonic() - (self.back or self.flushed)
        return what in self.took

    def costs(self) -> int:
        """What the pages of all films say, once each is there."""
        luca, found = self.scene.luca, 0
        for film in self.films:
            luca.page.goto(f"/videos/{film}/")
            expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS + SETTLED)
            found += luca.shown_cost(film)
        return found


def test_a_minute_without_redis_loses_nothing_and_pays_nothing_twice(
    valkey: PrivateValkey, tmp_path: Path
) -> None:
    figures = Figures("Redis away")
    site = next(sites := running_portal(tmp_path / "var", REDIS_URL=valkey.address))
    try:
        with signed_in_visitor(site) as context, watched_sandbox(site, figures) as stage:
            # To an empty Redis a fixed window would not tell of the minute before, and rightly.
            stage.change_settings(
                **{**FAST_SETTINGS, "render_seconds": RENDERS}, rate_window="sliding"
            )
            run_redis_outage(figures, site, context, stage, valkey)
    finally:
        next(sites, None)
    figures.close()


def run_redis_outage(
    figures: Figures,
    site: LivePortal,
    context: BrowserContext,
    stage: SandboxControl,
    valkey: PrivateValkey,
) -> None:
    of_many = hundred_clips.insert_clips(site, context, stage, REDIS_URL=valkey.address)
    scene = prepare_scene(site, context, stage)
    with calling_pages(site, scene, site.person("Vera")) as callers:
        films, guests = [scene.rendering, scene.unanswered], [scene.guest]
        course = RedisOutage(of_many, scene, callers, valkey, films, guests)
        course.flush()
        course.stop_redis()
        course.restart_redis()
        costs = course.costs()
    rows = of_many.job_rows()
    report_answers(figures, course)
    report_times(figures, course)
    hundred_clips.report_polling(figures, of_many, course.back_at, rows)
    report_requests(figures, course, rows)
    report_money(figures, course, rows, sum(map(stage.spent_credits, guests)), costs)


def report_answers(figures: Figures, course: RedisOutage) -> None:
    moments = (course.flushed, course.gone, course.back, inf)
    for name, begun, ended in zip(("flushed", "away", "back"), moments, moments[1:], strict=False):
        answers = [*course.callers.answers_between(begun, ended)]
        slowest = max((it.seconds for it in answers), default=0)
        holds = bool(answers) and {it.status for it in answers} <= WANTED
        said = f"{name}: answered {count_answers(answers)}, the slowest in {slowest:.1f} s"
        figures.report(said, "200, 302, 303 or 503", holds=holds)


def report_times(figures: Figures, course: RedisOutage) -> None:
    for what, said, most in (
        ("flush", "all clips looked at {} s after the flush", ROUND),
        ("order", "the first order sent {} s after the return", BACK_SECONDS),
        ("look", "the first look answered {} s after the return", BACK_SECONDS),
        ("all", "all clips looked at {} s after the return", ROUND),
    ):
        took = course.took.get(what, inf)
        figures.report(said.format(f"{took:.1f}"), f"at most {most} s", holds=took <= most)


def report_requests(figures: Figures, course: RedisOutage, rows: dict[str, Any]) -> None:
    lines, sent = course.of_many.sandbox_requests(), len(course.sent)
    figures.report(f"{sent} requests while it was away", "0: without the count", holds=not sent)
    unknown = hundred_clips.requests_without_intent(lines, rows["charges"])
    calls = len(hundred_clips.charging_requests(lines))
    figures.report(
        f"{len(unknown)} of {calls} charging calls without an intent of their own from before",
        f"0 of {len(course.films)}",
        holds=not unknown and calls == len(course.films),
        found=unknown,
    )
    most, refused = (
        hundred_clips.max_requests_in_minute(lines),
        sum(it["status"] == 429 for it in lines),
    )
    figures.report(
        f"{most} of {len(lines)} requests from one token in any 60 s at most, {refused} own 429s",
        f"{LIMIT}, and 0",
        holds=0 < most <= LIMIT and not refused,
    )


def report_money(
    figures: Figures, course: RedisOutage, rows: dict[str, Any], spent: int, costs: int
) -> None:
    accounts = {str(guest.account) for guest in course.guests}
    own = [it for it in rows["charges"] if it["account"] in accounts]
    books = sum(Decimal(it["cost"]) for it in own)
    undecided = [f"{it}" for it in own if it["state"] in HOLDING_STATES]
    figures.report(
        f"spent {spent} at the service, {books} in the charges, {costs} on the pages of "
        f"{len(course.films)} films; {len(undecided)} charges undecided",
        "the same, and 0",
        holds=0 < spent == books == costs and not undecided,
        found=undecided,
    )
