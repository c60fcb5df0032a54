"""What a library page says and offers of jobs that are no faceless video."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from dashboard.library.queries.video_page import load_video_page
from proxyapi.models import Charge, Job, JobKind
from tests.cases import each_case

UNRETRYABLE_KINDS = [kind for kind in JobKind.values if kind != JobKind.FACELESS]
PLACES = ("", "actions/", "actions/?at=head")
CREATE_CLIP = "text_to_video.create"


@pytest.fixture
def failed_clip(make_video_job: Callable[..., Job], add_settled_charge: Callable[..., Charge]):
    job = make_video_job("failed", kind=JobKind.CLIP, draft__settings={"type": "", "script": ""})
    add_settled_charge(job, 6, CREATE_CLIP)
    return job


@each_case("kind", JobKind.values)
def test_a_retry_is_offered_only_where_the_service_has_one(
    kind, make_video_job, add_settled_charge, priya, client_of
):
    job = make_video_job("failed", kind=kind)
    add_settled_charge(job)
    client = client_of(priya)
    for place in PLACES:
        page = client.get(f"/videos/{job.pk}/{place}").content.decode()
        assert (f"/videos/{job.pk}/retries/" in page) is (kind == JobKind.FACELESS), place
        assert ("A retry costs" in page) is (kind == JobKind.FACELESS and not place), place


@pytest.mark.parametrize("kind", UNRETRYABLE_KINDS)
def test_a_retry_that_the_service_does_not_have_charges_nothing(
    kind, make_video_job, priya, client_of
):
    job, client = make_video_job("failed", kind=kind), client_of(priya)
    url = f"/videos/{job.pk}/retries/"
    assert (client.get(url).status_code, client.post(url).status_code) == (404, 404)
    assert not Charge.objects.filter(job=job).exists()


@each_case("kind", JobKind.values)
def test_only_a_draft_that_the_studio_has_steps_for_is_continued(
    kind, make_video_job, priya, client_of
):
    job, client = make_video_job("draft", kind=kind), client_of(priya)
    is_in_studio = kind == JobKind.FACELESS
    for place in PLACES:
        page = client.get(f"/videos/{job.pk}/{place}").content.decode()
        assert (f'href="/studio/{job.pk}/"' in page) is is_in_studio, place
    assert load_video_page(job).card.actionable is (is_in_studio or kind == JobKind.CLIP)
    for step in ("", "script/", "price/", "renders/", "scripts/"):
        answer = client.get(f"/studio/{job.pk}/{step}", follow=True)
        assert answer.status_code == (200 if is_in_studio else 404)


def test_what_was_not_composed_here_is_not_continued_here(make_video_job, priya, client_of):
    job, client = make_video_job("draft"), client_of(priya)
    job.draft.delete()
    assert f"/studio/{job.pk}/" not in client.get(f"/videos/{job.pk}/").content.decode()
    assert client.get(f"/studio/{job.pk}/script/").status_code == 404


def test_the_card_of_a_failed_clip_leads_to_the_composer(failed_clip, priya, client_of):
    assert load_video_page(failed_clip).card.actionable is True
    acts = client_of(priya).get(f"/videos/{failed_clip.pk}/actions/").content.decode()
    assert f"/studio/clips/?from={failed_clip.pk}" in acts
    assert "Change and generate" in acts


def test_a_failed_clip_says_that_its_credits_come_back(failed_clip):
    page = load_video_page(failed_clip)
    assert page.card.status_text.endswith("Refund expected.")
    assert "the service refunds them automatically" in page.status_detail
    assert page.history_steps[-1].note.startswith("The service refunds this automatically.")
    Charge.objects.filter(job=failed_clip).update(refunded_at=timezone.now())
    assert "All 6 cr came back at" in load_video_page(failed_clip).card.status_text


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("faceless.export", "Export"),
        ("ai_visuals.upload", "Own media"),
        ("ai_visuals.regenerate", "New image"),
    ],
)
def test_the_history_names_each_paid_operation(
    operation, name, make_video_job: Any, add_settled_charge
):
    job = make_video_job("completed")
    add_settled_charge(job, 3, operation)
    assert load_video_page(job).history_steps[-1].name == name


def test_the_address_of_a_voice_among_the_videos_leads_to_its_own_page(
    make_video_job, vera, client_of
):
    job = make_video_job("completed", kind=JobKind.CLONE)
    assert client_of(vera).get(f"/videos/{job.pk}/").url == f"/voices/{job.pk}/"
