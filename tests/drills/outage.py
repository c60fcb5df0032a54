"""A person uses the portal while a service it needs is out: what they press, and what answers."""

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
from tests.browser.member_page import MemberPage, sign_in
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest, wait_until
from tests.drills.figures import Figures
from tests.leaks import Canaries

CHARGING = ("/render", "/scripts", "/retry", "/export")
LATE_ANSWER = 8000  # milliseconds; the outage has begun by then

Answers: TypeAlias = dict[str, Counter[int]]


@contextmanager
def signed_in_visitor(site: LivePortal) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        path = chromium.find_chromium(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=chromium.CHROMIUM_OPTIONS)
        yield browser.new_context(base_url=site.portal)
        browser.close()


@contextmanager
def watched_sandbox(
    site: LivePortal, figures: Figures, database: Path | None = None
) -> Iterator[SandboxControl]:
    """The portal's sandbox, whose tokens are canaries: at the end they are searched for in all
    that the portal logged meanwhile, and in the files of its database."""
    canaries = Canaries()
    with SandboxControl(site.sandbox, canaries) as stage:
        yield stage
    canaries.scan("the log", *site.lines)
    for path in database_files(database or site.var / "reelroom.sqlite3"):
        canaries.scan("a file of the database", path.read_bytes())
    found = canaries.leaked_tokens()
    figures.report(
        f"{canaries.scanned_summary()}: {len(found)} found", "0", holds=not found, found=found
    )


def database_files(database: Path) -> list[Path]:
    """Of SQLite with what it keeps beside, or a whole folder."""
    beside = database.rglob("*") if database.is_dir() else database.parent.glob(f"{database.name}*")
    return [path for path in beside if path.is_file()]


class OutageScene(NamedTuple):
    """Luca's three videos as an outage begins: one renders, one was sent and has its answer in the
    outage, and the form of one is to be pressed all the time."""

    luca: MemberPage
    guest: SandboxGuest
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


def prepare_scene(site: LivePortal, context: BrowserContext, stage: SandboxControl) -> OutageScene:
    luca, guest = MemberPage(context.new_page()), stage.create_account()
    sign_in(luca.page, site.person("Luca"))
    luca.use_token_of(guest)
    rendering, waiting = luca.make_video("It renders meanwhile"), luca.create_draft("It waits")
    luca.page.goto(f"/videos/{rendering}/")
    luca.wait_until_price_is_final(rendering)
    form = get_render_form(luca, waiting)
    return OutageScene(
        luca, guest, rendering, order_delayed_render(luca, stage, guest), waiting, form
    )


def get_render_form(luca: MemberPage, job: str) -> dict[str, str]:
    """The form of the question what a render costs, once its price is there."""
    wait_until(lambda: "price" in luca.render_dialog_fields(job))
    return luca.render_dialog_fields(job)


def order_delayed_render(luca: MemberPage, stage: SandboxControl, guest: SandboxGuest) -> str:
    """A render that the service has, and whose answer comes in the outage."""
    job = luca.create_draft("Its answer comes meanwhile")
    form, before = get_render_form(luca, job), stage.count_requests(guest, "POST", "/render")
    stage.set_fault(guest, "latency", "POST", "*/render", ms=LATE_ANSWER, times=1)
    assert luca.post_form(f"/studio/{job}/renders/", **form).ok
    wait_until(lambda: stage.count_requests(guest, "POST", "/render") > before)
    return job


def use_portal(site: LivePortal, scene: OutageScene, seconds: float) -> Answers:
    """Request pages, press the button and request the health checks, twice a second."""
    answers = {name: Counter[int]() for name in ("page", "press", "health", "ready")}
    until_then = time.monotonic() + seconds
    with httpx.Client(base_url=site.portal, cookies=scene.cookies, timeout=30) as client:
        while time.monotonic() < until_then:
            for path in ("/library/", "/studio/"):
                answers["page"][response_status(client.get(path))] += 1
            pressed = client.post(scene.button, data=scene.form, headers=scene.luca.form_headers)
            answers["press"][pressed.status_code] += 1
            answers["health"][httpx.get(f"{site.portal}/healthz").status_code] += 1
            answers["ready"][httpx.get(f"{site.portal}/readyz", timeout=30).status_code] += 1
            time.sleep(0.5)
    return answers


def response_status(page: httpx.Response) -> int:
    """Its status; 0 for a 503 that does not say when to come again."""
    forgot = page.status_code == 503 and "Retry-After" not in page.headers
    return 0 if forgot else page.status_code


def charging_calls(stage: SandboxControl, guest: SandboxGuest) -> int:
    return sum(
        stage.count_requests(guest, "POST", end) + stage.count_requests(guest, "PUT", end)
        for end in CHARGING
    )
