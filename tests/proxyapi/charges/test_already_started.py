"""What the service renders or has rendered is polled and not sent: it would be paid twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Job, JobKind, JobState, RenderDurations
from proxyapi.polling.poller import poll_job, refresh_media_url
from tests.factories import ChargeFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
GET = ("GET", "/faceless/7")
RENDER = ("POST", "/faceless/7/render")
RETRY = ("POST", "/faceless/7/retry")
FILM = "http://127.0.0.1:8001/media/a.mp4"


def shown(word: str) -> httpx.Response:
    film = FILM if word == "completed" else None
    return make_response(video_response(word, video={"status": word, "url": film, "failure": None}))


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def poll_job_now(job: Job) -> Job:
    """The job after its next poll."""
    then = timezone.now() - timedelta(seconds=6)
    Job.objects.update(polled_at=then, next_poll_at=timezone.now())
    poll_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.mark.parametrize(
    ("word", "end"),
    [
        ("completed", JobState.COMPLETED),
        ("failed", JobState.FAILED),
        ("rendering", JobState.RUNNING),
        ("syncing", JobState.RUNNING),
    ],
)
def test_rule_2_a_draft_that_was_rendered_upstream_is_not_paid_again(
    word: str, end: JobState, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, shown(word))
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = sent(make_held_charge())
    job.refresh_from_db()
    assert upstream.request_bodies(*RENDER) == []
    assert (charge.state, charge.account.held_credits()) == (ChargeState.REFUSED, 0)
    assert charge.reason.endswith("Nothing was charged. Its status is now checked.")
    assert (job.state, job.raw_status) == (JobState.RUNNING, word)
    assert poll_job_now(job).state == end


@pytest.mark.parametrize("word", ["completed", "rendering", "syncing"])
def test_a_failed_job_that_runs_upstream_or_is_done_does_not_stay_failed(
    word: str, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    Job.objects.update(state=JobState.FAILED)
    job.refresh_from_db()
    upstream.respond(*GET, shown(word))
    upstream.respond(*RETRY, charged_response({"id": 7}, 92))
    charge = sent(make_held_charge("faceless.retry"))
    assert (charge.state, upstream.request_bodies(*RETRY)) == (ChargeState.REFUSED, [])
    assert poll_job_now(job).state != JobState.FAILED


@pytest.mark.parametrize(
    ("operation", "state", "word"),
    [
        ("faceless.render", JobState.DRAFT, "draft"),
        ("faceless.render", JobState.DRAFT, "Completed?"),
        ("faceless.render", JobState.DRAFT, None),
        ("faceless.retry", JobState.FAILED, "failed"),
        ("faceless.retry", JobState.FAILED, "queued"),
    ],
)
def test_what_may_still_be_started_is_sent(
    operation: str,
    state: JobState,
    word: str | None,
    job: Job,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
) -> None:
    Job.objects.update(state=state)
    job.refresh_from_db()
    upstream.respond(*GET, make_response(video_response(word)))
    for path in (RENDER, RETRY):
        upstream.respond(*path, charged_response({"id": 7}, 92))
    assert sent(make_held_charge(operation)).state == ChargeState.CONFIRMED


def test_a_retry_is_not_sent_for_a_newer_failure_than_it_was_pressed_for(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """One that was called lost ran after all, and failed: nobody saw that when this was pressed."""
    charge = make_held_charge("faceless.retry")
    Job.objects.update(state=JobState.FAILED, started_at=timezone.now())
    upstream.respond(*GET, shown("failed"))
    upstream.respond(*RETRY, charged_response({"id": 7}, 92))
    assert (sent(charge).state, upstream.request_bodies(*RETRY)) == (ChargeState.REFUSED, [])
    assert poll_job_now(job).state == JobState.FAILED


def test_pitfall_83_a_film_may_be_that_of_our_own_lost_render(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    lost = timezone.now()
    ChargeFactory(job=job, state=ChargeState.REFUSED, sent_at=lost, lost_at=lost)
    upstream.respond(*GET, shown("completed"))
    assert f"whose response was lost at {lost:%H:%M} UTC" in sent(make_held_charge()).reason


def test_a_film_that_was_found_done_teaches_nothing_of_how_long_films_take(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, shown("completed"))
    dispatch_charge(make_held_charge().pk)
    assert (poll_job_now(job).media_url, RenderDurations.objects.count()) == (FILM, 0)


def test_what_another_worker_sends_meanwhile_is_not_ended(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge()

    def sent_beside(request: httpx.Request) -> httpx.Response:
        fields = {"state": ChargeState.SENDING, "sent_at": timezone.now()}
        Charge.objects.filter(pk=charge.pk).update(**fields)
        return shown("rendering")

    upstream.respond(*GET, sent_beside)
    assert sent(charge).state == ChargeState.SENDING
    assert charge.account.held_credits() == charge.hold


def test_a_storyboard_that_was_rendered_is_not_paid_again(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    Job.objects.update(kind=JobKind.STORYBOARD)
    job.refresh_from_db()
    render = ("POST", "/text-to-scene/7/render")
    upstream.respond("GET", "/text-to-scene/7", shown("completed"))
    upstream.respond(*render, charged_response({"id": 7}, 92))
    charge = sent(make_held_charge("text_to_scene.render"))
    assert (charge.state, upstream.request_bodies(*render)) == (ChargeState.REFUSED, [])
    assert poll_job_now(job).state == JobState.COMPLETED


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.COMPLETED, JobState.FAILED])
def test_a_draft_that_began_to_run_meanwhile_is_not_rendered_again_when_it_is_done(
    state: JobState, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The answer of a render that was written off came after all, while the next one was held, and
    perhaps its film was seen to the end since."""
    charge = make_held_charge()
    began = timezone.now()
    Job.objects.update(state=state, started_at=began, next_poll_at=began)
    upstream.respond(*GET, shown("completed"))
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    assert (sent(charge).state, upstream.request_bodies(*RENDER)) == (ChargeState.REFUSED, [])
    job.refresh_from_db()
    assert state == JobState.FAILED or (job.state, job.started_at) == (state, began)


def test_a_record_that_goes_back_to_rendering_does_not_take_the_finished_file(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge, began = make_held_charge(), timezone.now()
    Job.objects.update(
        state=JobState.COMPLETED, started_at=began, finished_at=began, media_url=FILM
    )
    upstream.respond(*GET, shown("rendering"))
    assert sent(charge).state == ChargeState.REFUSED
    job.refresh_from_db()
    assert (job.state, job.media_url) == (JobState.COMPLETED, FILM)
    assert not refresh_media_url(job)
    assert Job.objects.get().media_url == FILM
