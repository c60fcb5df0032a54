"""Watching: a look tells what a job is; a look that fails changes only what we know (rule 6)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.models import AccountPlan, Job, JobState, TokenState
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job, refresh_media_url
from tests.factories import JobFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

pytestmark = pytest.mark.postgresql

GET = ("GET", "/faceless/7")


@pytest.fixture
def job(db: None) -> Job:
    now = timezone.now()
    return JobFactory(
        remote_id="7",
        state=JobState.RUNNING,
        raw_status="rendering",
        started_at=now,
        polled_at=now - timedelta(seconds=5),
        next_poll_at=now,
    )


def poll_due_job(job: Job) -> Job:
    """The job after a look whose time came."""
    Job.objects.filter(pk=job.pk).update(next_poll_at=timezone.now())
    poll_job(job.pk)
    job.refresh_from_db()
    return job


def video_response(status: object, **more: object) -> httpx.Response:
    return make_response({"id": 7, "video": {"status": status, **more}})


def test_a_completed_video_keeps_its_address(job: Job, upstream: ScriptedUpstream) -> None:
    """pitfall_17: nobody calls us when it is done; a look sees it."""
    upstream.respond(*GET, video_response("completed", url="http://127.0.0.1:8001/media/a.mp4"))
    assert poll_due_job(job).state == JobState.COMPLETED
    assert job.media_url == "http://127.0.0.1:8001/media/a.mp4"
    assert job.finished_at is not None


def test_pitfall_10_completed_without_its_file_is_polled_again(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, video_response("completed", url=None))
    assert poll_due_job(job).state == JobState.RUNNING


def test_pitfall_11_a_failure_keeps_code_and_message(job: Job, upstream: ScriptedUpstream) -> None:
    failure = {"code": "RENDER-FAILED", "message": "Image for scene 7 could not be made."}
    upstream.respond(*GET, video_response("failed", failure=failure))
    assert poll_due_job(job).state == JobState.FAILED
    assert (job.failure_code, job.failure_message) == (failure["code"], failure["message"])


STRANGE = (
    None,
    7,
    0,
    True,
    ["completed"],
    {"status": "completed"},
    "",
    "r" * 4096,
    "rendu",
    "已完成",
)


@pytest.mark.parametrize("answer", [*map(video_response, STRANGE), make_response(None)])
def test_a_status_that_says_nothing_ends_no_job_and_its_poll_goes_on(
    answer: httpx.Response, job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, answer)
    assert poll_due_job(job).state == JobState.RUNNING
    assert job.next_poll_at is not None and job.next_poll_at > timezone.now()
    assert len(job.raw_status) <= 60
    assert due_work.lease_due_jobs() == []


def test_a_record_that_goes_back_to_rendering_takes_no_film_away(
    job: Job, upstream: ScriptedUpstream
) -> None:
    address = "http://127.0.0.1:8001/media/a.mp4"
    upstream.respond(*GET, video_response("completed", url=address))
    assert poll_due_job(job).state == JobState.COMPLETED
    upstream.respond(*GET, video_response("rendering", url=None))
    assert not refresh_media_url(job)
    poll_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.media_url) == (JobState.COMPLETED, address)


def test_pitfall_7_an_unknown_word_is_in_progress(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*GET, video_response("transmogrifying"))
    assert poll_due_job(job).state == JobState.RUNNING
    assert job.raw_status == "transmogrifying"


@pytest.mark.parametrize(
    "trouble",
    [
        error_response(404, "GEN-NOT-FOUND"),
        error_response(403, "GEN-FORBIDDEN"),
        httpx.Response(500, html="<h1>oops</h1>"),
        httpx.ReadTimeout,
        httpx.ConnectError,
    ],
)
def test_pitfall_14_a_failed_poll_leaves_the_job_as_it_is(
    trouble: Any, job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, trouble)
    assert poll_due_job(job).state == JobState.RUNNING
    assert job.poll_error
    assert job.poll_failing_since is not None
    assert job.next_poll_at is not None
    assert job.next_poll_at > timezone.now()


def test_pitfall_88_a_revoked_token_is_used_once_and_its_jobs_run_on(
    job: Job, upstream: ScriptedUpstream
) -> None:
    """The other look was leased before the first one was answered."""
    other = JobFactory(
        token=job.token,
        account=job.account,
        remote_id="8",
        state=JobState.RUNNING,
        started_at=job.started_at,
        next_poll_at=job.next_poll_at,
    )
    upstream.respond(*GET, error_response(401, "GEN-UNAUTHORIZED"))
    for each in (job, other):
        poll_job(each.pk, each.next_poll_at)
    Job.objects.update(next_poll_at=timezone.now())
    assert due_work.lease_due_jobs() == []
    assert len(upstream.requests) == 1
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.RUNNING}
    job.token.refresh_from_db()
    assert job.token.state == TokenState.REVOKED


@pytest.mark.parametrize("code", ["", "UNAUTHORIZED"])
def test_pitfall_88_a_401_that_is_not_the_services_own_leaves_the_token_as_it_is(
    job: Job, upstream: ScriptedUpstream, code: str
) -> None:
    """A gateway on the way that wants a sign-in: the token opens what it did, as soon as it may."""
    upstream.respond(*GET, error_response(401, code), video_response("rendering"))
    assert "on the way to the service" in poll_due_job(job).poll_error
    job.token.refresh_from_db()
    assert job.token.state == TokenState.WORKING
    assert job.next_poll_at is not None
    assert job.next_poll_at < timezone.now() + timedelta(seconds=30)
    assert poll_due_job(job).poll_error == ""


def test_pitfall_85_a_lapsed_plan_pauses_the_token_and_keeps_the_job(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*GET, error_response(403, "SUBSCRIPTION-REQUIRED"))
    assert poll_due_job(job).state == JobState.RUNNING
    job.token.refresh_from_db()
    assert job.token.state == TokenState.PAUSED
    assert job.account.plan == AccountPlan.NONE, "so that its profile is read again within minutes"


def test_a_good_poll_after_failures_clears_them(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*GET, error_response(404, "GEN-NOT-FOUND"), video_response("rendering"))
    assert poll_due_job(job).poll_error
    assert poll_due_job(job).poll_error == ""
    assert job.poll_failing_since is None


def test_two_ticks_take_a_due_job_once(job: Job) -> None:
    assert [lease.job_id for lease in due_work.lease_due_jobs()] == [job.pk]
    assert due_work.lease_due_jobs() == []


def test_a_finished_film_whose_address_died_is_read_again(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED, media_url="http://old/a.mp4")
    job.refresh_from_db()
    upstream.respond(*GET, video_response("completed", url="http://127.0.0.1:8001/media/b.mp4"))
    assert refresh_media_url(job)
    job.refresh_from_db()
    assert job.media_url.endswith("b.mp4")
