"""A person in the house while something under it is out: what they press, and what answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeAlias

import httpx
from playwright.sync_api import BrowserContext, sync_playwright

from tests.browser import chromium
from tests.browser.desk import Desk, sign_in
from tests.browser.house import House
from tests.browser.stage import Guest, Stage, until
from tests.drills.figures import Figures
from tests.leaks import Canaries

CHARGING = ("/render", "/scripts", "/retry", "/export")
LATE_ANSWER = 8000  # milliseconds; the outage has begun by then

Answers: TypeAlias = dict[str, Counter[int]]


@contextmanager
def visitor(house: House) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        path = chromium.find(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=chromium.OPTIONS)
        yield browser.new_context(base_url=house.portal)
        browser.close()


@contextmanager
def staged(house: House, figures: Figures, database: Path | None = None) -> Iterator[Stage]:
    """The house's service, whose tokens are canaries: in the end they are looked for in all that
    the house said meanwhile, and in the files of its database (f1)."""
    canaries = Canaries()
    with Stage(house.sandbox, canaries) as stage:
        yield stage
    canaries.hear("the log", *house.lines)
    for path in files_of(database or house.var / "reelroom.sqlite3"):
        canaries.hear("a file of the database", path.read_bytes())
    found = canaries.found()
    figures.tell(f"{canaries.told()}: {len(found)} found", "0", holds=not found, found=found)


def files_of(database: Path) -> list[Path]:
    """Of SQLite with what it keeps beside, or a whole folder."""
    beside = database.rglob("*") if database.is_dir() else database.parent.glob(f"{database.name}*")
    return [path for path in beside if path.is_file()]


class Scene(NamedTuple):
    """Luca's three videos as an outage begins: one renders, one was sent and has its answer in the
    outage, and the form of one is to be pressed all the time."""

    luca: Desk
    guest: Guest
    rendering: str
    unanswered: str
    waiting: str
    form: dict[str, str]

    @property
    def button(self) -> str:
        return f"/studio/{self.waiting}/renders/"

    @property
    def cookies(self) -> dict[str, str]:
        """Those of Luca, who has signed in."""
        return {one["name"]: str(one["value"]) for one in self.luca.page.context.cookies()}


def begin(house: House, context: BrowserContext, stage: Stage) -> Scene:
    luca, guest = Desk(context.new_page()), stage.account()
    sign_in(luca.page, house.person("Luca"))
    luca.join(guest)
    rendering, waiting = luca.make("It renders meanwhile"), luca.draft("It waits")
    luca.page.goto(f"/videos/{rendering}/")
    luca.paid(rendering)
    form = asked(luca, waiting)
    return Scene(luca, guest, rendering, answered_meanwhile(luca, stage, guest), waiting, form)


def asked(luca: Desk, job: str) -> dict[str, str]:
    """The form of the question what a render costs, once its price is there."""
    until(lambda: "price" in luca.question(job))
    return luca.question(job)


def answered_meanwhile(luca: Desk, stage: Stage, guest: Guest) -> str:
    """A render that the service has, and whose answer comes in the outage."""
    job = luca.draft("Its answer comes meanwhile")
    form, before = asked(luca, job), stage.sent(guest, "POST", "/render")
    stage.fault(guest, "latency", "POST", "*/render", ms=LATE_ANSWER, times=1)
    assert luca.send(f"/studio/{job}/renders/", **form).ok
    until(lambda: stage.sent(guest, "POST", "/render") > before)
    return job


def look_around(house: House, scene: Scene, seconds: float) -> Answers:
    """Ask for pages, press the button and ask how the house is, twice a second."""
    answers = {name: Counter[int]() for name in ("page", "press", "health", "ready")}
    until_then = time.monotonic() + seconds
    with httpx.Client(base_url=house.portal, cookies=scene.cookies, timeout=30) as client:
        while time.monotonic() < until_then:
            for path in ("/library/", "/studio/"):
                answers["page"][told(client.get(path))] += 1
            pressed = client.post(scene.button, data=scene.form, headers=scene.luca.headers)
            answers["press"][pressed.status_code] += 1
            answers["health"][httpx.get(f"{house.portal}/healthz").status_code] += 1
            answers["ready"][httpx.get(f"{house.portal}/readyz", timeout=30).status_code] += 1
            time.sleep(0.5)
    return answers


def told(page: httpx.Response) -> int:
    """Its status; 0 for a 503 that does not say when to come again."""
    forgot = page.status_code == 503 and "Retry-After" not in page.headers
    return 0 if forgot else page.status_code


def charging_calls(stage: Stage, guest: Guest) -> int:
    return sum(stage.sent(guest, "POST", end) + stage.sent(guest, "PUT", end) for end in CHARGING)
