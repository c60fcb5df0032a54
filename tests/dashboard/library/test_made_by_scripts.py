"""What a script made has its pages, without a draft, and says whose key made it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership
from proxyapi.gateway.keys import create_key
from proxyapi.models import ApiKey, Charge, Job, JobKind, JobOrigin, JobState, KeyScope
from tests.factories import JobFactory
from tests.pages import page_text

KINDS = (JobKind.FACELESS, JobKind.CLIP, JobKind.STORYBOARD)
STATES = ("draft", "running", "completed", "failed")
MADE = "Priya · key nightly-shorts"
PAGES = ("video-menu", "video-actions", "video-hide", "scenes", "exports")
STUDIO = ("studio-draft", "studio-price", "studio-renders", "studio-versions")


@pytest.fixture
def key(priya: Membership) -> ApiKey:
    scopes = [KeyScope.CREATE, KeyScope.RENDER]
    return create_key(priya.team.tenant, priya.user_id, "nightly-shorts", scopes).key


@pytest.fixture
def make_script_job(make_video_job: Callable[..., Job], key: ApiKey) -> Callable[..., Job]:
    def make(state: str, kind: str = JobKind.FACELESS, **fields: Any) -> Job:
        origin = {"origin": JobOrigin.GATEWAY, "api_key": key, "draft": None}
        return make_video_job(state, kind=kind, title="Ice", **{**origin, **fields})

    return make


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", KINDS)
def test_its_pages_open_for_everybody_and_name_its_key(
    state: str,
    kind: str,
    make_script_job: Callable[..., Job],
    add_settled_charge: Callable[..., Charge],
    priya: Membership,
    vera: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    job = make_script_job(state, kind)
    if state != "draft":
        add_settled_charge(job)
    browser, url = client_of(priya), reverse("video", args=[job.pk])
    for text in (page_text(it.get(url).content) for it in (browser, client_of(vera))):
        assert f"Made by {MADE}" in text
        assert "Continue" not in text
        assert ("Made by a script, which renders it." in text) or state != "draft"
    for name in PAGES:
        answer = browser.get(reverse(name, args=[job.pk]))
        # A tab is there once the service shows what it lists.
        is_tab = name in ("scenes", "exports")
        assert answer.status_code in ((200, 404) if is_tab else (200,)), name
    head = page_text(browser.get(f"{reverse('video-actions', args=[job.pk])}?at=head").content)
    for label in ("Continue", "New from this", "Make versions", "Save as preset"):
        assert label not in head


def test_the_library_names_the_key_of_each_and_no_list_fails(
    make_script_job: Callable[..., Job],
    add_settled_charge: Callable[..., Charge],
    priya: Membership,
    vera: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    for state, kind in product(STATES, KINDS):
        job = make_script_job(state, kind)
        if state != "draft":
            add_settled_charge(job)
    for browser in (client_of(priya), client_of(vera)):
        cards = page_text(browser.get("/library/?q=Ice").content)
        assert cards.count(MADE) == len(STATES) * len(KINDS)
    browser = client_of(priya)
    for name in ("overview", "clips", "storyboards", "studio", "drafts", "ledger"):
        assert browser.get(reverse(name)).status_code == 200, name
    assert "Ice" not in browser.get("/studio/drafts/").content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_the_studio_says_that_it_was_made_by_a_script(
    kind: str,
    make_script_job: Callable[..., Job],
    priya: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    job, browser = make_script_job("draft", kind), client_of(priya)
    for name in STUDIO:
        answer = browser.get(reverse(name, args=[job.pk]))
        assert answer.status_code == 404, name
    text = page_text(browser.get(reverse("studio-draft", args=[job.pk])).content)
    assert "Made by a script. It has no draft in the studio." in text


def test_it_can_be_exported_labelled_and_hidden(
    make_script_job: Callable[..., Job],
    priya: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    job, browser = make_script_job("completed"), client_of(priya)
    assert browser.get(reverse("export-new", args=[job.pk])).status_code == 200
    assert browser.get(reverse("new-renders", args=[job.pk])).status_code in (200, 404)
    assert browser.get(f"{reverse('selection-labels')}?video={job.pk}").status_code == 200
    browser.post(f"{reverse('selection-labels')}?video={job.pk}", {"video": job.pk, "new": "Ice"})
    browser.post(reverse("video-hide", args=[job.pk]))
    assert Job.objects.get(pk=job.pk).hidden_at is not None
    browser.post(reverse("video-restorations", args=[job.pk]))
    assert Job.objects.get(pk=job.pk).hidden_at is None


@pytest.mark.parametrize("kind", [JobKind.CLONE, JobKind.CHARACTER])
def test_a_voice_and_a_character_of_a_script_have_their_pages(
    kind: str,
    make_script_job: Callable[..., Job],
    priya: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    jobs = {state: make_script_job(state, kind) for state in STATES}
    browser = client_of(priya)
    places = ("voices", "voice") if kind == JobKind.CLONE else ("characters", "character")
    assert browser.get(reverse(places[0])).status_code == 200
    for state, job in jobs.items():
        answer = browser.get(reverse(places[1], args=[job.pk]), follow=True)
        assert answer.status_code == 200, state


def test_a_storyboard_of_the_portal_stays_out_of_the_library_until_it_is_rendered(
    make_video_job: Callable[..., Job],
) -> None:
    copy = make_video_job("draft", kind=JobKind.STORYBOARD, title="Copy")
    assert copy not in Job.objects.videos()


def test_without_its_key_it_says_that_a_script_made_it(
    make_script_job: Callable[..., Job],
    priya: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    make_script_job("completed", api_key=None)
    assert "Priya · script" in page_text(client_of(priya).get("/library/").content)


def test_the_key_costs_the_library_no_query(
    make_script_job: Callable[..., Job],
    priya: Membership,
    client_of: Callable[[Membership], Client],
    django_assert_max_num_queries: Any,
) -> None:
    browser = client_of(priya)
    make_script_job("completed")
    with django_assert_max_num_queries(60) as first:
        browser.get("/library/")
    for _ in range(4):
        make_script_job("completed", JobKind.CLIP)
    with django_assert_max_num_queries(len(first)):
        browser.get("/library/")


def test_jobs_of_the_portal_name_their_member_alone(
    priya: Membership, client_of: Callable[[Membership], Client], token: Any
) -> None:
    job = JobFactory.create(account=token.account, token=token, state=JobState.DRAFT)
    text = page_text(client_of(priya).get(reverse("video", args=[job.pk])).content)
    assert "Made by Priya today" in text
