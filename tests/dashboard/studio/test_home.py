"""The studio's first page: the types and what they cost this team, the budget, the queries."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Budget, Membership, Preset
from dashboard.studio.queries.past_costs import median_costs_by_type
from dashboard.studio.queries.price import load_past_prices
from proxyapi.models import ChargeState, Draft, Job, JobState, Token
from tests.dashboard.studio.conftest import OPTIONS, WANTED, Browser, get_page
from tests.factories import ChargeFactory, JobFactory

HOME = reverse("studio")


@pytest.fixture
def render_for(token: Token) -> Callable[..., Job]:
    """A render that was charged; `words` sets its length."""

    def make(cost: int, type_: str = "ai-visuals", words: int = 150, **charge: Any) -> Job:
        chosen = {**WANTED, "type": type_, "script": "ice " * words}
        job = JobFactory.create(
            account=token.account,
            token=token,
            draft__settings=chosen,
            subtype=type_,
            length=60 if words <= 150 else 180,
            state=JobState.COMPLETED,
            remote_id=str(Job.objects.count() + 1),
        )
        ended = {"state": ChargeState.CONFIRMED, "cost": Decimal(cost), "sent_at": timezone.now()}
        ChargeFactory.create(job=job, operation="faceless.render", **{**ended, **charge})
        return job

    return make


def text_of(html: str) -> str:
    return " ".join(html.split())


def test_a_type_costs_what_the_team_paid_for_its_last_renders(
    priya: Membership, render_for: Callable[..., Job], client_of: Browser
) -> None:
    render_for(42, "b-roll", words=400)
    for cost in (88, 96, 97, 104):
        render_for(cost)
    html = text_of(get_page(client_of(priya), HOME))
    assert "for 60 s, your last 4: 88 to 104" in html
    assert "for 3 min, once" in html
    assert html.count('value="96"') == 2  # the card, and beside Continue


def test_the_announced_price_is_that_of_the_engine_that_the_draft_gets(
    priya: Membership, render_for: Callable[..., Job], client_of: Browser, ready: Job
) -> None:
    """An engine multiplies the price: what videos with another one cost says nothing."""
    for _ in range(5):
        render_for(31)
    dear = {**ready.draft.settings, "image_engine_id": 72}
    Draft.objects.filter(job=render_for(100)).update(settings=dear)
    Job.objects.exclude(draft__settings__image_engine_id=72).update(
        created_at=timezone.now() - timedelta(days=1)
    )
    html = text_of(get_page(client_of(priya), HOME))
    assert html.count('value="100"') == 2  # the card, and beside Continue
    assert "for 60 s, once" in html
    assert 'value="31"' not in html
    client_of(priya).post(reverse("drafts"), {"start": "Why lakes freeze"})
    made = Job.objects.get(title="Why lakes freeze")
    assert made.draft.settings["image_engine_id"] == 72
    assert load_past_prices(ready).costs == (31,) * 5  # with the cheap engine
    by_type = median_costs_by_type(priya.team.tenant, made.draft.settings, 60)
    assert by_type == {"ai-visuals": 100}


def test_clips_that_nobody_made_cost_the_rate_of_the_engine_that_the_draft_gets(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    engine = {"id": 818, "name": "Kestrel", "slug": "k", "cost": [{"credits_per_second": 2}]}
    options = {**OPTIONS, "optional": {**OPTIONS["optional"], "clip_engines": [engine]}}
    token.account.options = options
    token.account.save()
    JobFactory.create(account=token.account, token=token, draft__settings={"type": "ai-clips"})
    assert 'value="120"' in get_page(client_of(priya), HOME)  # 60 s


def test_a_type_without_a_render_is_the_first_of_its_kind(
    priya: Membership, token: Token, client_of: Browser
) -> None:
    html = get_page(client_of(priya), HOME)
    assert html.count("First of its kind here.") == html.count('class="card flow"')
    assert "to render</span>" not in html


def test_a_type_that_the_plan_refused_says_so(
    priya: Membership, render_for: Callable[..., Job], client_of: Browser
) -> None:
    render_for(96)
    refused = {
        "state": ChargeState.REFUSED,
        "code": "FEATURE-NOT-ALLOWED",
        "settled_at": timezone.now(),
    }
    render_for(0, "b-roll", **refused)
    html = text_of(get_page(client_of(priya), HOME))
    assert html.count("flow--off") == 1
    assert "not in the Studio plan" in html
    told = client_of(priya).post(reverse("drafts"), {"start": "Ice", "flow": "b-roll"})
    assert "B-roll is not in the Studio plan" in text_of(told.content.decode())
    again = dict(re.findall(r'name="(\w+)" value="([^"]*)"', told.content.decode()))
    assert not Job.objects.filter(title="Ice").exists()
    client_of(priya).post(reverse("drafts"), again)
    assert Job.objects.get(title="Ice").draft.settings["type"] == "b-roll"


@pytest.mark.parametrize(("hard", "is_told"), [(90, True), (200, False)])
def test_a_budget_with_less_than_a_usual_video_is_shown(
    hard: int,
    is_told: bool,
    priya: Membership,
    render_for: Callable[..., Job],
    client_of: Browser,
) -> None:
    render_for(96, created_at=timezone.now() - timedelta(days=90))
    Budget.objects.create(team=priya.team, member=priya.user, period="month", hard=hard)
    html = get_page(client_of(priya), HOME)
    assert (f"{hard} of your {hard} left until" in html) == is_told


def test_the_page_takes_thirteen_queries(
    priya: Membership,
    ready: Job,
    draft: Job,
    render_for: Callable[..., Job],
    client_of: Browser,
    django_assert_max_num_queries: Any,
) -> None:
    for cost in range(80, 100):
        render_for(cost)
    Budget.objects.create(team=priya.team, member=priya.user, period="month", hard=9000)
    preset = Preset.objects.create(
        team=priya.team, name="Mine", type="b-roll", created_by=priya.user
    )
    Membership.objects.filter(pk=priya.pk).update(default_preset=preset)
    browser = client_of(priya)
    browser.get(HOME)
    with django_assert_max_num_queries(15):
        browser.get(HOME)


def test_the_most_used_presets_are_a_press_away(
    priya: Membership, vera: Membership, token: Token, client_of: Browser
) -> None:
    part = f"{HOME}?part=presets"
    assert "No presets yet" in get_page(client_of(priya), part)
    for used in range(6):
        preset = Preset.objects.create(
            team=priya.team,
            name=f"Series {used}",
            type="b-roll",
            used_count=used,
            created_by=priya.user,
            missing={"font": None} if used == 5 else {},
        )
    html = get_page(client_of(priya), part)
    assert re.findall(r"Series \d", html) == ["Series 5", "Series 4", "Series 3", "Series 2"]
    assert "All 6 presets" in html
    assert html.count("1 setting missing") == 1
    assert reverse("preset-drafts", args=[preset.pk]) in html
    assert "formaction" not in get_page(client_of(vera), part)
