"""The price card: known, asked for or missing with the reason, and what a render still needs."""

from __future__ import annotations

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.live.change_rendering import render_tenant_changes
from dashboard.studio.flows import FLOWS
from dashboard.studio.queries import build_draft_price, build_render_button
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import ChargeState, Draft, Job, JobState, TokenState
from tests.dashboard.studio.conftest import OPTIONS, WANTED, Browser, get_page, job_url
from tests.factories import ChargeFactory, JobFactory

HTMX = {"HX-Request": "true"}


def spent(job: Job, cost: int, **wanted: object) -> None:
    """An earlier render of the team that really took `cost`."""
    other = JobFactory.create(
        account=job.account,
        token=job.token,
        draft__settings={**WANTED, **wanted},
        state=JobState.COMPLETED,
        remote_id=f"r{cost}{len(wanted)}",
    )
    now = timezone.now()
    ChargeFactory.create(
        job=other, state=ChargeState.CONFIRMED, cost=Decimal(cost), sent_at=now, settled_at=now
    )


def test_a_priced_draft_shows_its_estimate_with_its_time(ready: Job) -> None:
    price = build_draft_price(ready)
    assert (price.state, price.estimate, price.ready) == ("known", Decimal(96), True)
    assert [need.label for need in price.requirements][-1] == "4,318 cr are free"


def test_without_a_script_there_is_no_price_and_each_need_leads_to_its_step(draft: Job) -> None:
    """pitfall_89, pitfall_102"""
    price = build_draft_price(draft)
    missing = {need.label: need.step for need in price.requirements if not need.done}
    assert price.state == "none"
    assert missing == {
        "Write or paste a script": "script",
        "Choose a voice": "voice",
        "Choose a genre": "visuals",
    }


OWN_NEEDS = {
    "ai-visuals": {"Write or paste a script": "script", "Choose a genre": "visuals"},
    "ai-clips": {
        "Write or paste a script": "script",
        "Choose a genre": "visuals",
        "Choose a clip engine": "visuals",
    },
    "b-roll": {"Write or paste a script": "script"},
    "url-based": {"Read the images of a web page": "source", "Write or paste a script": "source"},
}


@pytest.mark.parametrize("type_", FLOWS)
def test_each_type_lists_what_the_service_would_refuse_with_its_step(
    draft: Job, type_: str
) -> None:
    """Every precondition of the spec: of the type, its voice, nothing rendering, the credits."""
    draft.draft.settings = {"type": type_, "title": "Ice"}
    optional = {**OPTIONS["optional"], "clip_engines": [{"id": 811, "name": "Brook", "cost": []}]}
    draft.account.options = {**OPTIONS, "optional": optional}
    requirements = build_draft_price(draft).requirements
    assert {need.label: need.step for need in requirements if not need.done} == {
        **OWN_NEEDS[type_],
        "Choose a voice": "voice",
    }
    assert {need.label for need in requirements if need.done} == {
        "No render is running",
        "4,318 cr are free",
    }


def test_an_edited_draft_is_asked_for_again(ready: Job) -> None:
    """An estimate of other settings is no price."""
    ready.draft.settings = {**ready.draft.settings, "genre_id": 942}
    assert build_draft_price(ready).state == "pending"
    assert build_draft_price(ready).estimate is None


def test_a_price_that_does_not_come_can_be_asked_for_again(ready: Job) -> None:
    ready.draft.estimate = None
    assert not build_draft_price(ready).can_request_again
    ready.draft.edited_at = timezone.now() - timedelta(seconds=30)
    assert build_draft_price(ready).can_request_again
    ready.draft.quote_error = "The service did not answer."
    assert (build_draft_price(ready).state, build_draft_price(ready).reason) == (
        "none",
        "The service did not answer.",
    )


def test_a_price_that_failed_says_why_and_offers_to_ask_again(
    priya: Membership, ready: Job, client_of: Browser
) -> None:
    Draft.objects.update(estimate=None, quote_error="The service did not answer.")
    html = get_page(client_of(priya), job_url(ready, "price"), **HTMX)
    assert "No price yet. The service did not answer." in html
    assert "Get new price" in html


def test_a_voice_that_the_service_does_not_know_is_a_need(ready: Job) -> None:
    ready.draft.settings = {**ready.draft.settings, "voice_id": 4711}
    unmet = [need.label for need in build_draft_price(ready).requirements if not need.done]
    assert unmet == ["The voice is no longer available"]


@pytest.mark.parametrize(
    ("balance", "label"),
    [
        (
            105,
            "105 cr free; 106 would be held",
        ),  # the estimate, and not what is held for it
        (50, "50 cr free; 106 would be held"),
        (0, "0 cr free; 106 would be held"),
    ],
)
def test_too_few_credits_are_a_need(ready: Job, balance: int, label: str) -> None:
    ready.account.balance = Decimal(balance)
    assert label in [need.label for need in build_draft_price(ready).requirements if not need.done]
    assert not build_draft_price(ready).ready


def test_a_render_is_offered_when_all_that_is_held_for_it_is_free(ready: Job) -> None:
    ready.account.balance = Decimal(106)
    assert build_draft_price(ready).ready


def test_a_token_that_does_not_work_is_a_need(ready: Job) -> None:
    ready.token.state = TokenState.REVOKED
    assert not build_draft_price(ready).ready


def test_earlier_prices_are_those_of_the_same_type_and_length(ready: Job) -> None:
    for cost in (88, 104, 96):
        spent(ready, cost)
    spent(ready, 300, script=" ".join(["ice"] * 900))
    spent(ready, 12, type="b-roll")
    assert sorted(build_draft_price(ready).past_prices.costs) == [88, 96, 104]
    assert (
        build_draft_price(ready).past_prices.sentence
        == "Your last 3 videos like this cost 88 to 104."
    )


def test_the_card_that_is_pushed_holds_no_button_of_a_reader(ready: Job) -> None:
    html = render_to_string("studio/_price.html", {"price": build_draft_price(ready)})
    assert f'id="job-{ready.pk}-price"' in html
    assert "btn" not in html
    assert "?part=act" in html


def test_a_new_price_is_in_the_push_to_every_open_page(ready: Job) -> None:
    html = render_tenant_changes(
        ready.tenant_id, {ChangeEvent(ready.tenant_id, EventType.JOB, ready.pk)}
    )
    assert f'id="job-{ready.pk}-price"' in html
    assert "≈ 96" in html


def test_the_button_is_the_readers_own(
    priya: Membership, vera: Membership, ready: Job, client_of: Browser
) -> None:
    url = job_url(ready, "price") + "?part=act"
    assert "≈ 96 cr" in get_page(client_of(priya), url, **HTMX)
    assert "Render" not in get_page(client_of(vera), url, **HTMX)
    assert not build_render_button(build_draft_price(ready), vera).show


def test_a_button_that_is_disabled_says_why(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    html = get_page(client_of(priya), job_url(draft, "price") + "?part=act", **HTMX)
    assert "disabled" in html
    assert "Available when every item above is done." in html


def test_asking_again_is_for_those_who_render(
    priya: Membership, vera: Membership, ready: Job, client_of: Browser
) -> None:
    assert client_of(vera).post(job_url(ready, "price")).status_code == 403
    assert client_of(priya).post(job_url(ready, "price")).status_code == 302


def test_what_is_to_do_is_marked_as_open_and_only_a_problem_as_a_warning(
    priya: Membership, draft: Job, client_of: Browser
) -> None:
    open_line = '<svg class="glyph" data-state="draft"'
    html = get_page(client_of(priya), job_url(draft, "price"), **HTMX)
    assert html.count(open_line) == 3
    assert "To do:</span>\nWrite or paste a script" in html
    assert 'data-state="late"' not in html
    draft.draft.settings = {**WANTED, "voice_id": 4711}
    draft.draft.save()
    html = get_page(client_of(priya), job_url(draft, "price"), **HTMX)
    assert open_line not in html
    assert re.search(r'data-state="late".*\n.*Not met:</span>\nThe voice is no longer', html)
    assert re.search(r'data-state="good".*\nScript is set', html)


def test_a_render_that_runs_is_waited_for(ready: Job) -> None:
    """pitfall_89"""
    ready.state = JobState.RUNNING
    states = {need.label: need.state for need in build_draft_price(ready).requirements}
    assert states["Wait until its render has ended"] == "running"
    assert "No render is running" not in states
