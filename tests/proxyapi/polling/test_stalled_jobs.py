"""A job that no longer moves is polled rarely, whatever its status word is, and delays no other."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import redis_client
from proxyapi.kinds import KINDS
from proxyapi.models import Job, JobState, RenderDurations
from proxyapi.polling import due_work
from proxyapi.polling.poller import poll_job, poll_soon
from tests.cases import each_case
from tests.proxyapi.polling.conftest import ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.proxyapi.test_mutated_records import RECORDS

pytestmark = pytest.mark.django_db
PATHS = {
    "faceless": "/faceless/1",
    "clip": "/text-to-video/1",
    "storyboard": "/text-to-scene/1",
    "clone": "/voice-clones/1",
    "character": "/characters/1",
}
STRANGE = [None, 7, ["completed"], {"a": 1}, "", "modified", "fertig", "x" * 4096, "\u202e\n<b>"]


def record_with_status(kind: str, status: Any) -> dict[str, Any]:
    holder = KINDS[kind].status_key
    if not holder:
        return {"id": 1, "status": status}
    return {**RECORDS[kind], holder: {"id": 1, "status": status, "url": None}}


def poll_when_due(job: Job, time_machine: Any) -> None:
    redis_client.connect_redis().flushall()
    assert job.next_poll_at
    time_machine.move_to(job.next_poll_at + timedelta(seconds=1))
    poll_job(job.pk)
    job.refresh_from_db()


@pytest.mark.parametrize("status", STRANGE)
@pytest.mark.parametrize("kind", PATHS)
def test_a_word_that_says_nothing_is_not_polled_at_full_rate_for_long(
    kind: str, status: Any, make_running_job: Any, upstream: ScriptedUpstream
) -> None:
    job = make_running_job(kind=kind, remote_id="1", age=700, status_since=ago(650))
    upstream.respond("GET", PATHS[kind], make_response(record_with_status(kind, status)))
    poll_job(job.pk)
    job.refresh_from_db()
    is_new_word = isinstance(status, str) and status != ""
    assert (job.state, job.is_stalled) == (JobState.RUNNING, not is_new_word)
    if is_new_word:
        Job.objects.update(status_since=ago(650), polled_at=ago(60), next_poll_at=ago(1))
        redis_client.connect_redis().flushall()
        poll_job(job.pk)
        job.refresh_from_db()
    assert job.is_stalled
    assert job.next_poll_at > timezone.now() + timedelta(seconds=100)


@pytest.mark.parametrize("words", [["modified"], ["a", "b"]])
def test_it_is_polled_twice_a_minute_and_after_an_hour_six_times_an_hour(
    words: list[str], make_running_job: Any, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    job = make_running_job(age=170, remote_id="1", status_since=ago(170))
    RenderDurations.objects.add_duration(job, 60.0)
    answers = [make_response(record_with_status("faceless", word)) for word in words * 200]
    upstream.respond("GET", PATHS["faceless"], *answers)
    start, polls = job.started_at, Counter[int]()
    while (timezone.now() - start) < timedelta(hours=2):
        poll_when_due(job, time_machine)
        if (timezone.now() - start) > timedelta(minutes=6):
            assert job.is_stalled
            polls[(timezone.now() - start) // timedelta(minutes=1)] += 1
    assert max(polls.values()) <= 2
    assert sum(count for minute, count in polls.items() if 60 <= minute < 120) <= 6


def test_an_answer_that_cannot_be_read_does_not_have_it_polled_sooner(
    make_running_job: Any, upstream: ScriptedUpstream
) -> None:
    job = make_running_job(age=900, remote_id="1", stalled_at=ago(300), status_since=ago(900))
    upstream.respond("GET", PATHS["faceless"], httpx.Response(200, text="<html>"))
    poll_job(job.pk)
    job.refresh_from_db()
    assert job.poll_failing_since
    assert job.next_poll_at > timezone.now() + timedelta(seconds=25)


def test_ten_of_them_leave_the_requests_of_their_token_to_other_jobs(
    make_running_job: Any, informed_rate_limiter: Any, token: Any
) -> None:
    """A tick chooses the moving jobs first, however long the others waited."""
    informed_rate_limiter()
    RenderDurations.objects.add_duration(make_running_job(age=2), 60.0)
    for _ in range(10):
        make_running_job(age=4000, seen=700, stalled_at=ago(3000), raw_status="modified")
    moving = {make_running_job(age=age, seen=6).pk for age in (55, 70)}
    assert {lease.job_id for lease in due_work.lease_due_jobs()} == moving


def test_all_stalled_jobs_of_a_token_are_polled_twice_a_minute_together(
    make_running_job: Any, upstream: ScriptedUpstream
) -> None:
    job = make_running_job(age=700, status_since=ago(690))
    for _ in range(9):
        make_running_job(age=700, stalled_at=ago(60))
    upstream.respond("GET", PATHS["faceless"], make_response(record_with_status("faceless", None)))
    poll_job(job.pk)
    job.refresh_from_db()
    assert job.next_poll_at > timezone.now() + timedelta(seconds=290)


def test_a_person_has_it_polled_at_once_and_a_word_that_moves_ends_it(
    make_running_job: Any, upstream: ScriptedUpstream, time_machine: Any
) -> None:
    far = timezone.now() + timedelta(minutes=40)
    job = make_running_job(
        age=900, stalled_at=ago(300), status_since=ago(900), next_poll_at=far, remote_id="1"
    )
    assert poll_soon(job)
    job.refresh_from_db()
    assert not job.is_stalled  # so it is chosen as any other
    assert job.next_poll_at <= timezone.now() + timedelta(seconds=5)
    upstream.respond("GET", PATHS["faceless"], make_response({"id": 1, "video": {"status": "xyz"}}))
    poll_when_due(job, time_machine)
    assert (job.is_stalled, job.raw_status) == (False, "xyz")
    assert job.status_since == job.polled_at


@each_case(
    "word, kind",
    product(["sync-failed", "timeout", "timed_out", "model-training-failed"], PATHS),
)
def test_a_word_that_says_failure_fails_a_job_of_any_kind(kind: str, word: str) -> None:
    reading = KINDS[kind].read_status(record_with_status(kind, word))
    assert (reading.state, reading.raw_status) == (JobState.FAILED, word)
