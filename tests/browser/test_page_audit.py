"""Pages of the demo team, a video in each state among them: accessible, light, and quiet.

Each is loaded once, wide and light, and narrowed to 320 px; five of them are looked at in the dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.utils import timezone
from playwright.sync_api import Browser, BrowserContext, Route

from dashboard.alerts.delivery import webhook
from dashboard.batches.actions import create_batch, dry_run_version, start_batch
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.table_file import Table
from dashboard.models import AlertWebhook, Batch, Membership, Series, Team
from dashboard.series.actions import save_series
from dashboard.shared.start_times import StartTime
from dashboard.studio.scheduled_renders import schedule_render
from proxyapi.kinds import page_reading
from proxyapi.models import ChargeState, Job, JobKind, JobState, Token, TokenState
from tests.browser.agents import add_agents, ask_for_items, consent_query
from tests.browser.console_messages import ConsoleMessages
from tests.browser.page_audit import (
    CONTRAST,
    HEIGHT,
    NARROW,
    PHONE,
    WIDE,
    repeated_ids,
    serious_violations,
)
from tests.browser.page_site import ORIGIN, PageSite, demo_site
from tests.dashboard.studio.test_source import images_of_night_trains
from tests.factories import ChargeFactory, JobFactory, TokenFactory

MAX_PAGE_BYTES = 60_500  # bytes that a page may weigh, with a cold cache and without films
MAX_EDITOR_BYTES = 62_500  # of a storyboard's editor, whose scenes have their forms
MAX_PICTURE_BYTES = 30_000  # bytes of its pictures, which come after it
PICTURES = "/static/stills/"  # drawings of options: they load lazily
LONG = "Donaudampfschifffahrt" * 9  # a title without a space
STEPS = ("type", "script", "voice", "visuals", "captions", "review")
STATES = ("completed", "failed", "waiting", "unknown", "running", "paused")
WEB_PAGE = "https://travel.example.com/2026/night-trains-return"
PAGES = {
    "": ("/accounts/login/", "/accounts/password/reset/"),
    "Luca": (
        *("/library/", "/library/labels/", "/tokens/", "/members/", "/ideas/", "/voices/"),
        *("/batches/", "/batches/new/", "/batches/{batch}/", "/batches/{batch}/start-times/"),
        *("/batches/{unstarted}/starts/", "/studio/{scheduled}/review/"),
        *("/series/", "/series/new/", "/series/{series}/", "/series/{series}/starts/"),
        *("/characters/", "/characters/new/", "/studio/", "/studio/drafts/", "/studio/clips/"),
        *("/studio/presets/", "/studio/storyboards/", "/studio/storyboards/{storyboard}/"),
        *("/account/", "/account/notifications/", "/account/app/", "/nowhere/"),
        *("/api-keys/", "/api-keys/new/", "/agents/", "/agents/{agent}/credits/"),
        *("/agents/{agent}/ends/", "/agents/consent/?{consent}", "/agents/consent/?client_id=x"),
        "/agents/approvals/{asked}/",
        *(f"/studio/{{draft}}/{step}/" for step in (*STEPS, "renders")),
        *("/studio/{clips}/visuals/", "/studio/{web page}/source/"),
        *(f"/videos/{{{state}}}/" for state in STATES),
        "/videos/{completed}/scenes/",
    ),
    "Thea": (
        *("/", "/ledger/", "/ledger/charts/", "/ledger/{account}/0/", "/costs/", "/forecast/"),
        *("/reconciliation/", "/budgets/", "/budgets/new/", "/budgets/second-person/"),
        *("/budgets/new-members/", "/budgets/{budget}/raises/", "/members/{vera}/charge-pauses/"),
        *("/alerts/", "/alerts/rules/", "/alerts/rules/new/", "/alerts/deliveries/", "/top-up/"),
        *("/costs/{account}/credit-price/", "/alerts/webhooks/{webhook}/"),
    ),
    "Mira": (
        *("/audit/", "/operations/", "/operations/charge-stops/", "/operations/key-rotations/"),
        *("/security/", "/security/sign-outs/", "/members/invitations/", "/members/ownership/"),
        *("/members/{vera}/removals/", "/members/{vera}/deactivations/", "/studio/brand-kit/"),
        *("/instance/", "/instance/teams/", "/instance/teams/{team}/suspensions/"),
    ),
    "Vera": ("/studio/{draft}/renders/",),
}
STATUS = {
    ("Luca", "/nowhere/"): 404,
    ("Luca", "/agents/consent/?client_id=x"): 400,
    ("Vera", "/studio/{draft}/renders/"): 403,
}
IN_THE_DARK = ("/library/", "/ledger/", "/studio/{draft}/review/", "/videos/{failed}/", "/agents/")


@pytest.fixture(scope="module")
def site(django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    with django_db_blocker.unblock(), demo_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture(scope="module")
def places(site: PageSite) -> dict[str, object]:
    """What stands for the names in braces."""
    return site.run(add_drafts_and_videos)


def add_drafts_and_videos() -> dict[str, object]:
    """Luca's: a draft of each sort, and a video in each state."""
    done = Job.objects.filter(
        kind=JobKind.FACELESS, state=JobState.COMPLETED, draft__settings__type="ai-visuals"
    ).latest("finished_at")
    Job.objects.filter(pk=done.pk).update(title=LONG)
    token = Token.objects.select_related("account").get(owner__name__startswith="Luca ")
    revoked = TokenFactory.create(
        account=token.account, owner=token.owner, state=TokenState.REVOKED
    )
    rendering: dict[str, Any] = {
        "state": JobState.RUNNING,
        "raw_status": "rendering",
        "started_at": timezone.now() - timedelta(minutes=1),
        "polled_at": timezone.now(),
        "next_poll_at": timezone.now() + timedelta(minutes=1),
    }
    waiting = add_job(token, done, "Next in line")
    ChargeFactory.create(job=waiting, state=ChargeState.HELD)
    unknown = add_job(token, done, "An answer got lost")
    ChargeFactory.create(job=unknown, state=ChargeState.UNKNOWN, sent_at=timezone.now())
    web_page = add_job(token, done, "Night trains return", "url-based")
    read = page_reading.request_page_read(web_page, WEB_PAGE)
    web_page.refresh_from_db()
    images = {"assets": images_of_night_trains()}
    page_reading.store_page_images(web_page, read, images, timezone.now())
    agents = add_agents(token)
    vera = Membership.objects.select_related("team__tenant").get(user__name__startswith="Vera ")
    return {
        "draft": add_job(token, done, LONG).pk,
        "clips": add_job(token, done, "Moving water", "ai-clips").pk,
        "web page": web_page.pk,
        "completed": done.pk,
        "failed": Job.objects.filter(kind=JobKind.FACELESS, state=JobState.FAILED)[0].pk,
        "waiting": waiting.pk,
        "unknown": unknown.pk,
        "running": add_job(token, done, "The slow tide", **rendering).pk,
        "paused": add_job(revoked, done, "A long exposure", **rendering).pk,
        "storyboard": vera.team.tenant.storyboards.latest("created_at").pk,
        "account": token.account_id,
        "vera": vera.pk,
        "budget": vera.team.budgets.exclude(hard=None)[0].pk,
        "team": vera.team_id,
        "agent": agents["Codex CLI"].pk,
        "asked": ask_for_items(agents["Claude Code"]),
        "consent": consent_query(),
        "webhook": add_failing_webhook(vera.team).pk,
        **add_schedules(token, add_job(token, done, "Next week")),
    }


def add_job(token: Token, model: Job, title: str, flow: str = "ai-visuals", **fields: Any) -> Job:
    """With the settings of another one, at 96 credits."""
    wanted = {**model.draft.settings, "title": title, "type": flow}
    job: Job = JobFactory.create(
        account=token.account,
        token=token,
        remote_id=uuid4().hex,
        title=title,
        draft__settings=wanted,
        draft__sent_settings=wanted,
        draft__estimate=96,
        draft__estimate_as_of=timezone.now(),
        **fields,
    )
    return job


def add_failing_webhook(team: Team) -> AlertWebhook:
    hook = AlertWebhook(team=team, url="https://erp.northlight.example/hooks/x", name="ERP")
    hook.event_types, hook.disabled_at = ["alert", "video.completed"], timezone.now()
    webhook.encrypt_webhook_secret(hook, webhook.generate_webhook_secret())
    hook.save()
    return hook


def add_schedules(token: Token, draft: Job) -> dict[str, object]:
    """Of the token's owner: a series, a batch, and what starts later, the draft and a batch."""
    by = Membership.objects.select_related("team__tenant", "user").get(user=token.owner)
    later = timezone.now() + timedelta(days=3)
    schedule_render(by=by, job=draft, seen=Decimal(96), start=StartTime(later))
    return {
        "scheduled": draft.pk,
        "unstarted": add_batch(by).pk,
        "batch": start_later(by, add_batch(by), later).pk,
        "series": add_series(by).pk,
    }


def add_batch(by: Membership) -> Batch:
    table = Table(["topic"], {1: ["Why lakes freeze from the top"]})
    return create_batch(by=by, name="Lakes", file_name="lakes.csv", table=table, preset=None)


def start_later(by: Membership, batch: Batch, at: datetime) -> Batch:
    run = load_dry_run(by, batch, list(batch.rows.all()))
    seen, version = run.total.usual, dry_run_version(run)
    return start_batch(by=by, batch=batch, seen=seen, version=version, start=StartTime(at))


def add_series(by: Membership) -> Series:
    series = Series(team=by.team, member=by.user, time_zone="Europe/Berlin")
    changes = {
        "name": "Lakes each week",
        "preset": by.team.presets.all()[0],
        "weekdays": [0, 3],
        "count": 2,
        "monthly_credits": Decimal(900),
        "topics": f"Why lakes freeze\n{LONG}\nWhat lives in a lake?",
    }
    return save_series(by=by, series=series, changes=changes)


class PageAuditor:
    """Audits pages that one person reads, in one tab."""

    def __init__(self, context: BrowserContext, site: PageSite, first_name: str) -> None:
        self.site, self.first_name = site, first_name
        self.page_bytes = self.picture_bytes = 0
        self.messages = ConsoleMessages(())
        self.messages.watch(context)
        context.add_init_script("delete window.EventSource")  # nothing changes meanwhile
        context.route("**/*", self.answer)
        self.page = context.new_page()

    def answer(self, route: Route) -> None:
        if not route.request.url.startswith(f"{ORIGIN}/"):
            route.abort("addressunreachable")  # a failed request of the page
            return
        size = self.site.answer(route, self.first_name)
        if urlsplit(route.request.url).path.startswith(PICTURES):
            self.picture_bytes += size
        else:
            self.page_bytes += size

    def find_problems(self, path: str, status: int) -> list[str]:
        self.page_bytes = self.picture_bytes = 0
        self.messages.found.clear()
        self.page.set_viewport_size({"width": WIDE, "height": HEIGHT})
        answer = self.page.goto(f"{ORIGIN}{path}")
        assert answer is not None
        if answer.status != status:
            return [f"answers {answer.status}"]
        problems = serious_violations(self.page) + repeated_ids(self.page)
        is_editor = path.startswith("/studio/storyboards/") and path.count("/") > 3
        if not 0 < self.page_bytes <= (MAX_EDITOR_BYTES if is_editor else MAX_PAGE_BYTES):
            problems.append(f"weighs {self.page_bytes} bytes")
        if self.picture_bytes > MAX_PICTURE_BYTES:
            problems.append(f"has {self.picture_bytes} bytes of pictures")
        self.page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        width = self.page.evaluate("document.scrollingElement.scrollWidth")
        if width > NARROW:
            problems.append(f"needs {width} px at {NARROW}")
        # What the page before asked for by itself when it was left; and a page that is refused.
        usual = ["ERR_ABORTED"] + [f"responded with a status of {status}"] * (status != 200)
        said = self.messages.found
        return problems + [it for it in said if not any(words in it for words in usual)]

    def find_faint_text(self, path: str) -> list[str]:
        """What has too little contrast in the dark, on a wide screen and on a phone."""
        self.page.goto(f"{ORIGIN}{path}")
        found = []
        for width in (WIDE, PHONE):
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
            found += serious_violations(self.page, CONTRAST)
        return found


@pytest.mark.parametrize("reader", PAGES)
def test_pages_are_accessible_light_narrow_and_quiet(
    chromium: Browser, site: PageSite, places: dict[str, object], reader: str
) -> None:
    with chromium.new_context(reduced_motion="reduce") as context:
        auditor = PageAuditor(context, site, reader)
        found = {}
        for page in PAGES[reader]:
            found[page] = auditor.find_problems(
                page.format(**places), STATUS.get((reader, page), 200)
            )
    assert not any(found.values()), list_problems(found)


def test_pages_can_be_read_in_the_dark_too(
    chromium: Browser, site: PageSite, places: dict[str, object]
) -> None:
    with chromium.new_context(color_scheme="dark", reduced_motion="reduce") as context:
        auditor = PageAuditor(context, site, "Luca")
        found = {page: auditor.find_faint_text(page.format(**places)) for page in IN_THE_DARK}
    assert not any(found.values()), list_problems(found)


def list_problems(found: dict[str, list[str]]) -> str:
    return "\n".join(
        f"{page} {problem}" for page, problems in found.items() for problem in problems
    )
