"""Every page, a video in each state among them: for everybody, light, quiet, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage, sign_in
from tests.browser.page_audit import (
    MAX_PAGE_BYTES,
    MAX_PICTURE_BYTES,
    NARROW,
    PageAudit,
    audit_page,
)
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, SandboxGuest
from tests.leaks import Canaries

STEPS = ("type", "script", "voice", "visuals", "captions", "review")
STATES = ("completed", "failed", "waiting", "unknown", "running", "paused")
AI_CLIPS = {"type": "ai-clips", "aspect_ratio": "16:9"}
WEB_PAGE = "https://travel.example.com/2026/night-trains-return"
LONG = "Donaudampfschifffahrt" * 9  # a title without a space
WHO = {"sign-in": "", "forbidden": "Vera", "top-up": "Thea", "studio/brand-kit": "Mira"}
OF_THEA = ("budgets", "budgets/new", "alerts", "alerts/rules/new")
PAGES = (
    *("ideas", "characters", "characters/new", "presets", "studio/brand-kit", "studio/drafts"),
    *("sign-in", "library", "studio", "studio/clips", "members", "tokens", "nowhere"),
    *("forbidden", "confirm"),
    *(f"step {step}" for step in STEPS),
    *("clip engines", "source", "scenes", "library/labels"),
    *(f"video {state}" for state in STATES),
    *("forecast", "top-up", "overview", "reconciliation", "costs"),
    *OF_THEA,
    *("ledger", "ledger/charts", "ledger entry"),
)


@pytest.fixture(scope="module")
def states(
    chromium: Browser, live_portal: LivePortal, browser_states: dict[str, Any]
) -> dict[str, Any]:
    """What the browser keeps of Luca, of Mira, of Thea, of Vera, and of nobody."""
    for name in {"Luca", "Mira", "Thea", "Vera"} - browser_states.keys():
        with chromium.new_context(base_url=live_portal.portal) as context:
            page = context.new_page()
            sign_in(page, live_portal.person(name))
            browser_states[name] = context.storage_state()
    return {**browser_states, "": None}


@pytest.fixture(scope="module")
def paths(
    chromium: Browser, live_portal: LivePortal, canaries: Canaries, states: dict[str, Any]
) -> Iterator[dict[str, str]]:
    """Where each page is, with a draft and a video in each state made for them."""
    with (
        SandboxControl(live_portal.sandbox, canaries) as stage,
        chromium.new_context(
            base_url=live_portal.portal, storage_state=states["Luca"], reduced_motion="reduce"
        ) as context,
    ):
        jobs = create_videos_in_every_state(MemberPage(context.new_page()), stage)
        draft, clips, page = (jobs.pop(name) for name in ("draft", "clips", "page"))
        yield {
            **{name: f"/{name}/" for name in ("ledger", "ledger/charts")},
            "ledger entry": first_entry(context.pages[0]),
            "sign-in": "/accounts/login/",
            **{name: f"/{name}/" for name in OF_THEA},
            **{name: f"/{name}/" for name in ("forecast", "top-up", "reconciliation", "costs")},
            "overview": "/",
            "ideas": "/ideas/",
            "characters": "/characters/",
            "characters/new": "/characters/new/",
            "presets": "/studio/presets/",
            "studio/brand-kit": "/studio/brand-kit/",
            "studio/drafts": "/studio/drafts/",
            **{name: f"/{name}/" for name in ("library", "studio", "members", "tokens", "nowhere")},
            "studio/clips": "/studio/clips/",
            **dict.fromkeys(("forbidden", "confirm"), f"/studio/{draft}/renders/"),
            **{f"step {step}": f"/studio/{draft}/{step}/" for step in STEPS},
            "clip engines": f"/studio/{clips}/visuals/",
            "source": f"/studio/{page}/source/",
            "scenes": f"/videos/{jobs['completed']}/scenes/",
            "library/labels": "/library/labels/",
            **{f"video {state}": f"/videos/{job}/" for state, job in jobs.items()},
        }


def first_entry(page: Page) -> str:
    """Where the newest entry is, once the mirror has read one."""
    page.goto("/ledger/")
    link = page.locator("#ledger-entries td[data-at=lead] a").first
    link.wait_for(timeout=90_000)
    return str(link.get_attribute("href"))


def create_videos_in_every_state(luca: MemberPage, stage: SandboxControl) -> dict[str, str]:
    """A draft with its price, and a video in each state; the states stay while the faults do.

    Each has an account of its own: six videos in a minute are too many for one token.
    """

    def guest() -> SandboxGuest:
        luca.use_token_of(made := stage.create_account())
        return made

    def sent(title: str) -> str:
        job = luca.order_video(title)
        luca.wait_until_price_is_final(job)
        return job

    jobs = {}
    guest()
    stage.script_outcome(
        "rendering", "failed", code="SCENE-IMAGE-FAILED", message="No image for scene 7."
    )
    jobs["failed"] = sent("The seventh scene")
    guest()
    jobs["completed"] = sent(LONG[::-1])
    stage.change_settings(render_seconds=600)
    guest()
    jobs["running"] = sent("The slow tide")
    gone = guest()
    jobs["paused"] = sent("A long exposure")
    stage.revoke_token(gone)
    stage.set_fault(guest(), "rate_limited", "POST", "*/render", times=1)
    jobs["waiting"] = luca.order_video("Next in line")
    lost = guest()
    stage.set_fault(lost, "html", "GET", "*/credits/history")
    stage.set_fault(lost, "reset", "POST", "*/render", times=1)
    jobs["unknown"] = luca.order_video("An answer got lost")
    guest()
    jobs["clips"] = luca.create_draft("Moving water")
    assert luca.post_form(f"/studio/{jobs['clips']}/type/", title="Moving water", **AI_CLIPS).ok
    begun = luca.post_form("/studio/drafts/", start=WEB_PAGE, read_as="link", type="url-based")
    assert begun.url.endswith("/source/"), begun.text()
    jobs["page"] = begun.url.split("/")[-3]
    luca.page.goto(f"/studio/{jobs['page']}/source/")
    expect(luca.page.locator("#tiles-used > .tile")).to_have_count(5, timeout=RENDERED_TIMEOUT_MS)
    jobs["draft"] = luca.create_draft(LONG)
    luca.open_render_dialog(jobs["draft"])
    for state in STATES:
        luca.page.goto(f"/videos/{jobs[state]}/")
        shown = luca.page.locator(f"#job-{jobs[state]}-status-wide")
        expect(shown).to_have_attribute("data-state", state, timeout=RENDERED_TIMEOUT_MS)
    return jobs


@pytest.fixture(scope="module")
def audited_pages(
    chromium: Browser, live_portal: LivePortal, states: dict[str, Any], paths: dict[str, str]
) -> Callable[[str], PageAudit]:
    """Audit each page once for all tests."""

    @cache
    def audited(name: str) -> PageAudit:
        who = "Thea" if name in OF_THEA else WHO.get(name, "Luca")
        return audit_page(chromium, live_portal.portal, paths[name], states[who])

    return audited


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shuts_nobody_out(audited_pages: Callable[[str], PageAudit], name: str) -> None:
    assert audited_pages(name).violations == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_light(audited_pages: Callable[[str], PageAudit], name: str) -> None:
    assert 0 < audited_pages(name).weight <= MAX_PAGE_BYTES
    assert audited_pages(name).pictures <= MAX_PICTURE_BYTES


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_nobody_else_and_complains_of_nothing(
    audited_pages: Callable[[str], PageAudit], name: str
) -> None:
    refused = {"nowhere": 404, "forbidden": 403}.get(name)
    said = [it for it in audited_pages(name).complaints if not refused or f"{refused} (" not in it]
    assert (audited_pages(name).strangers, said) == ([], [])


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_into_320_px(audited_pages: Callable[[str], PageAudit], name: str) -> None:
    assert audited_pages(name).narrowest == NARROW
