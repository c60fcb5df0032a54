"""Every page, a video in each state among them: for everybody, light, quiet, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.desk import RENDERED, Desk, sign_in
from tests.browser.house import House
from tests.browser.stage import Guest, Stage
from tests.browser.visit import MOST, NARROW, Visit, visit
from tests.leaks import Canaries

STEPS = ("type", "script", "voice", "look", "captions", "review")
STATES = ("completed", "failed", "waiting", "unknown", "running", "paused")
LONG = "Donaudampfschifffahrt" * 9  # a title without a space
WHO = {"sign-in": "", "forbidden": "Vera", "top-up": "Thea"}
OF_THEA = ("budgets", "budgets/additions", "alerts", "alerts/rules/additions")
PAGES = (
    *("sign-in", "library", "studio", "members", "tokens", "nowhere", "forbidden", "confirm"),
    *(f"step {step}" for step in STEPS),
    *(f"video {state}" for state in STATES),
    *("forecast", "top-up", "overview", "reconciliation", "costs"),
    *OF_THEA,
    *("ledger", "ledger/charts", "ledger entry"),
)


@pytest.fixture(scope="module")
def states(chromium: Browser, house: House, signed_in: dict[str, Any]) -> dict[str, Any]:
    """What the browser keeps of Luca, of Thea, of Vera, and of nobody."""
    for name in {"Luca", "Thea", "Vera"} - signed_in.keys():
        with chromium.new_context(base_url=house.portal) as context:
            page = context.new_page()
            sign_in(page, house.person(name))
            signed_in[name] = context.storage_state()
    return {**signed_in, "": None}


@pytest.fixture(scope="module")
def paths(
    chromium: Browser, house: House, canaries: Canaries, states: dict[str, Any]
) -> Iterator[dict[str, str]]:
    """Where each page is, with a draft and a video in each state made for them."""
    with (
        Stage(house.sandbox, canaries) as stage,
        chromium.new_context(base_url=house.portal, storage_state=states["Luca"]) as context,
    ):
        jobs = exhibit(Desk(context.new_page()), stage)
        draft = jobs.pop("draft")
        yield {
            **{name: f"/{name}/" for name in ("ledger", "ledger/charts")},
            "ledger entry": first_entry(context.pages[0]),
            "sign-in": "/accounts/login/",
            **{name: f"/{name}/" for name in OF_THEA},
            **{name: f"/{name}/" for name in ("forecast", "top-up", "reconciliation", "costs")},
            "overview": "/",
            **{name: f"/{name}/" for name in ("library", "studio", "members", "tokens", "nowhere")},
            **dict.fromkeys(("forbidden", "confirm"), f"/studio/{draft}/renders/"),
            **{f"step {step}": f"/studio/{draft}/{step}/" for step in STEPS},
            **{f"video {state}": f"/videos/{job}/" for state, job in jobs.items()},
        }


def first_entry(page: Page) -> str:
    """Where the newest entry is, once the mirror has read one."""
    page.goto("/ledger/")
    link = page.locator("#ledger-entries td[data-at=lead] a").first
    link.wait_for(timeout=90_000)
    return str(link.get_attribute("href"))


def exhibit(luca: Desk, stage: Stage) -> dict[str, str]:
    """A draft with its price, and a video in each state; the states stay while the faults do.

    Each has an account of its own: six videos in a minute are too many for one token.
    """

    def guest() -> Guest:
        luca.join(made := stage.account())
        return made

    def sent(title: str) -> str:
        job = luca.order(title)
        luca.paid(job)
        return job

    jobs = {}
    guest()
    stage.outcome("rendering", "failed", code="SCENE-IMAGE-FAILED", message="No image for scene 7.")
    jobs["failed"] = sent("The seventh scene")
    guest()
    jobs["completed"] = sent(LONG[::-1])
    stage.settings(render_seconds=600)
    guest()
    jobs["running"] = sent("The slow tide")
    gone = guest()
    jobs["paused"] = sent("A long exposure")
    stage.revoke(gone)
    stage.fault(guest(), "rate_limited", "POST", "*/render", times=1)
    jobs["waiting"] = luca.order("Next in line")
    lost = guest()
    stage.fault(lost, "html", "GET", "*/credits/history")
    stage.fault(lost, "reset", "POST", "*/render", times=1)
    jobs["unknown"] = luca.order("An answer got lost")
    guest()
    jobs["draft"] = luca.draft(LONG)
    luca.ask_to_render(jobs["draft"])
    for state in STATES:
        luca.page.goto(f"/videos/{jobs[state]}/")
        shown = luca.page.locator(f"#job-{jobs[state]}-status-wide")
        expect(shown).to_have_attribute("data-state", state, timeout=RENDERED)
    return jobs


@pytest.fixture(scope="module")
def visited(
    chromium: Browser, house: House, states: dict[str, Any], paths: dict[str, str]
) -> Callable[[str], Visit]:
    """Each page is visited once, whatever is asked of it; one that is too heavy is weighed again,
    because news may have come while it was being loaded."""
    visits: dict[str, Visit] = {}

    def seen(name: str) -> Visit:
        who = "Thea" if name in OF_THEA else WHO.get(name, "Luca")
        return visit(chromium, house.portal, paths[name], states[who])

    def once(name: str) -> Visit:
        if name not in visits:
            visits[name] = seen(name)
            if visits[name].weight > MOST:
                visits[name].weight = seen(name).weight
        return visits[name]

    return once


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shuts_nobody_out(visited: Callable[[str], Visit], name: str) -> None:
    assert visited(name).violations == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light(visited: Callable[[str], Visit], name: str) -> None:
    assert 0 < visited(name).weight <= MOST


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nobody_else_and_complains_of_nothing(
    visited: Callable[[str], Visit], name: str
) -> None:
    refused = {"nowhere": 404, "forbidden": 403}.get(name)
    said = [it for it in visited(name).complaints if not refused or f"{refused} (" not in it]
    assert (visited(name).strangers, said) == ([], [])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_into_320_px(visited: Callable[[str], Visit], name: str) -> None:
    assert visited(name).narrowest == NARROW
