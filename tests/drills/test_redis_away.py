"""FLUSHALL, and then no Redis for a minute, while a hundred videos render and people order.

The whole house on a Valkey of its own, which is emptied, ended and started again (proof C1, C2).
`DRILL_REDIS_AWAY` sets the seconds; the proof's five minutes are 300.
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
from tests.browser.desk import RENDERED
from tests.browser.house import House, running_house
from tests.browser.stage import QUICK, Guest, Stage, until
from tests.drills import hundred
from tests.drills.callers import Callers, calling, counted
from tests.drills.figures import Figures
from tests.drills.hundred import Hundred
from tests.drills.mortals import in_time
from tests.drills.outage import Scene, answered_meanwhile, asked, begin, staged, visitor

AWAY = float(os.environ.get("DRILL_REDIS_AWAY", "60"))
RENDERS = max(20.0, AWAY / 2)  # seconds
BACK_SECONDS = 10
# Seconds for all of them: to an empty Redis a minute counts as spent, then each token has a round.
ROUND = 90
UNDER_WAY = 5  # seconds that what was begun may take to come
SETTLED = 60_000  # milliseconds for a charge whose answer could not be told
LIMIT = 30  # requests of a token a minute
WANTED = {200, 302, 303, 503}


class Valkey:
    """One beside the house, which may end and come again, empty."""

    def __init__(self, folder: Path) -> None:
        self._socket = folder / program.NAME
        self.address = f"unix://{self._socket}"

    def start(self) -> None:
        self._process = subprocess.Popen(program.command(self._socket))
        until(self.answers)

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
def valkey() -> Iterator[Valkey]:
    """Not in pytest's own folder: the name of a socket is a short one."""
    with TemporaryDirectory(prefix="reelroom-redis-") as folder:
        made = Valkey(Path(folder))
        made.start()
        yield made
        made.stop()


@dataclass
class Course:
    """What is done, and what became of it; moments are in monotonic seconds."""

    of_many: Hundred
    scene: Scene
    callers: Callers
    valkey: Valkey
    films: list[str]
    guests: list[Guest]
    flushed: float = 0.0
    gone: float = 0.0
    back: float = 0.0
    back_at: int = 0  # the journal's number
    pressed: tuple[str, dict[str, str]] = ("", {})  # the video and its form
    took: dict[str, float] = field(default_factory=dict)
    sent: list[hundred.Line] = field(default_factory=list)  # while it was away

    def flush(self) -> None:
        """Somebody orders at once. It goes on when all were looked at again."""
        self.join()
        order = self.scene.luca.draft("Ordered after the flush")
        form, number = asked(self.scene.luca, order), self.of_many.now()
        self.valkey.client().flushall()
        self.flushed = time.monotonic()
        self.films.append(order)
        self.callers.press(self.scene, order, form)
        seen = lambda: not self.of_many.unseen_since(number)  # noqa: E731
        in_time(lambda: self.noted("flush", seen), ROUND)

    def join(self) -> Guest:
        """A token that has all of its minute left, for whatever is ordered next."""
        guest = self.of_many.stage.account()
        self.scene.luca.join(guest)
        self.guests.append(guest)
        return guest

    def go_without(self) -> None:
        """The answer to one order comes meanwhile, and another is pressed all the time."""
        scene, stage = self.scene, self.of_many.stage
        self.join()
        order = scene.luca.draft("Ordered without Redis")
        self.pressed = order, asked(scene.luca, order)
        self.films += [order, answered_meanwhile(scene.luca, stage, self.join())]
        self.gone = time.monotonic()
        self.valkey.stop()
        Event().wait(UNDER_WAY)
        number = self.of_many.now()
        while time.monotonic() < self.gone + AWAY:
            self.callers.press(scene, *self.pressed)
            Event().wait(1)
        self.sent, self.back_at = self.of_many.journal(number), self.of_many.now()

    def come_back(self) -> None:
        self.valkey.start()
        self.back = time.monotonic()
        until(lambda: self.callers.press(self.scene, *self.pressed) == 302, seconds=60)
        holds = {
            "order": lambda: hundred.charging(self.since_back()),
            "look": lambda: [*hundred.looks(self.since_back())],
            "all": lambda: not self.of_many.unseen_since(self.back_at),
        }
        in_time(lambda: sum(self.noted(*one) for one in holds.items()) == len(holds), ROUND)

    def since_back(self) -> list[hundred.Line]:
        return self.of_many.journal(self.back_at)

    def noted(self, what: str, holds: Callable[[], object]) -> bool:
        """Whether it holds by now; notes the seconds since the last change of Redis if so."""
        if what not in self.took and holds():
            self.took[what] = time.monotonic() - (self.back or self.flushed)
        return what in self.took

    def costs(self) -> int:
        """What the pages of all films say, once each is there."""
        luca, found = self.scene.luca, 0
        for film in self.films:
            luca.page.goto(f"/videos/{film}/")
            expect(luca.film).to_be_attached(timeout=RENDERED + SETTLED)
            found += luca.cost(film)
        return found


def test_a_minute_without_redis_loses_nothing_and_pays_nothing_twice(
    valkey: Valkey, tmp_path: Path
) -> None:
    figures = Figures("Redis away")
    house = next(houses := running_house(tmp_path / "var", REDIS_URL=valkey.address))
    try:
        with visitor(house) as context, staged(house, figures) as stage:
            # To an empty Redis a fixed window would not tell of the minute before, and rightly.
            stage.settings(**{**QUICK, "render_seconds": RENDERS}, rate_window="sliding")
            drill(figures, house, context, stage, valkey)
    finally:
        next(houses, None)
    figures.close()


def drill(
    figures: Figures, house: House, context: BrowserContext, stage: Stage, valkey: Valkey
) -> None:
    of_many = hundred.lay(house, context, stage, REDIS_URL=valkey.address)
    scene = begin(house, context, stage)
    with calling(house, scene, house.person("Vera")) as callers:
        films, guests = [scene.rendering, scene.unanswered], [scene.guest]
        course = Course(of_many, scene, callers, valkey, films, guests)
        course.flush()
        course.go_without()
        course.come_back()
        costs = course.costs()
    rows = of_many.rows()
    tell_answers(figures, course)
    tell_times(figures, course)
    hundred.tell_watched(figures, of_many, course.back_at, rows)
    tell_requests(figures, course, rows)
    tell_money(figures, course, rows, sum(map(stage.spent, guests)), costs)


def tell_answers(figures: Figures, course: Course) -> None:
    moments = (course.flushed, course.gone, course.back, inf)
    for name, begun, ended in zip(("flushed", "away", "back"), moments, moments[1:], strict=False):
        answers = [*course.callers.between(begun, ended)]
        slowest = max((it.seconds for it in answers), default=0)
        holds = bool(answers) and {it.status for it in answers} <= WANTED
        said = f"{name}: answered {counted(answers)}, the slowest in {slowest:.1f} s"
        figures.tell(said, "200, 302, 303 or 503", holds=holds)


def tell_times(figures: Figures, course: Course) -> None:
    for what, said, most in (
        ("flush", "all clips looked at {} s after the flush", ROUND),
        ("order", "the first order sent {} s after the return", BACK_SECONDS),
        ("look", "the first look answered {} s after the return", BACK_SECONDS),
        ("all", "all clips looked at {} s after the return", ROUND),
    ):
        took = course.took.get(what, inf)
        figures.tell(said.format(f"{took:.1f}"), f"at most {most} s", holds=took <= most)


def tell_requests(figures: Figures, course: Course, rows: dict[str, Any]) -> None:
    lines, sent = course.of_many.journal(), len(course.sent)
    figures.tell(f"{sent} requests while it was away", "0: without the count", holds=not sent)
    unknown = hundred.without_intent(lines, rows["charges"])
    calls = len(hundred.charging(lines))
    figures.tell(
        f"{len(unknown)} of {calls} charging calls without an intent of their own from before",
        f"0 of {len(course.films)}",
        holds=not unknown and calls == len(course.films),
        found=unknown,
    )
    most, refused = hundred.most_in_a_minute(lines), sum(it["status"] == 429 for it in lines)
    figures.tell(
        f"{most} of {len(lines)} requests from one token in any 60 s at most, {refused} own 429s",
        f"{LIMIT}, and 0",
        holds=0 < most <= LIMIT and not refused,
    )


def tell_money(
    figures: Figures, course: Course, rows: dict[str, Any], spent: int, costs: int
) -> None:
    accounts = {str(guest.account) for guest in course.guests}
    own = [it for it in rows["charges"] if it["account"] in accounts]
    books = sum(Decimal(it["cost"]) for it in own)
    undecided = [f"{it}" for it in own if it["state"] in HOLDING_STATES]
    figures.tell(
        f"spent {spent} at the service, {books} in the charges, {costs} on the pages of "
        f"{len(course.films)} films; {len(undecided)} charges undecided",
        "the same, and 0",
        holds=0 < spent == books == costs and not undecided,
        found=undecided,
    )
