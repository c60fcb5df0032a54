"""Exports are read to their end although their video stays completed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import rate_limiter, redis_client, tasks
from proxyapi.models import Job, JobPart, TokenState
from proxyapi.polling import due_work
from proxyapi.polling.part_reads import (
    read_job_parts,
    read_parts_soon,
    read_unfinished_parts_again,
)
from proxyapi.rate_limiter import Priority
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.polling.conftest import ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
FILM = "http://127.0.0.1:8001/media/export.mp4"


@pytest.fixture
def job() -> Job:
    return JobFactory.create(remote_id="7", state="completed", parts_due_at=ago(1))


def exports(**export: Any) -> httpx.Response:
    video = {"status": "completed", "url": "http://127.0.0.1:8001/media/film.mp4"}
    return make_response({"id": 7, "video": video, "exports": [{"id": 9, **export}]})


def read_when_due(job: Job) -> None:
    for lease in due_work.lease_due_part_reads():
        read_job_parts(*lease)
    job.refresh_from_db()


def seconds_until_next(job: Job) -> float:
    assert job.parts_due_at is not None
    return (job.parts_due_at - timezone.now()).total_seconds()


def test_an_export_is_read_until_it_is_finished(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/faceless/7", exports(status="rendering"), exports(status="syncing"))
    read_when_due(job)
    assert 4 < seconds_until_next(job) <= 5, "no resource is read more often than every 5 s"
    read_when_due(job)
    assert len(upstream.requests) == 1, "it is not due yet"
    upstream.respond("GET", "/faceless/7", exports(status="completed", url=FILM))
    Job.objects.update(parts_due_at=ago(0))
    read_when_due(job)
    part = job.parts.get()
    assert (part.state, part.media_url, job.parts_due_at) == ("completed", FILM, None)
    assert part.finished_at is not None
    assert (job.state, job.raw_status) == ("completed", ""), "the job itself is not touched"


def test_a_failed_export_is_not_read_again(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/faceless/7", exports(status="failed", failure={"message": "No font"}))
    read_when_due(job)
    assert (job.parts.get().state, job.parts_due_at) == ("failed", None)


@pytest.mark.parametrize(("age", "seconds"), [(100, 16), (3600, 600), (25 * 3600, None)])
def test_the_interval_grows_with_the_age_and_ends_after_a_day(
    job: Job, upstream: ScriptedUpstream, age: float, seconds: float | None
) -> None:
    upstream.respond("GET", "/faceless/7", exports(status="rendering"))
    create_export(job, age)
    read_when_due(job)
    if seconds is None:
        assert job.parts_due_at is None
    else:
        assert seconds - 2 < seconds_until_next(job) <= seconds + 1


def create_export(job: Job, age: float) -> None:
    times = {"created_at": ago(age), "read_at": ago(9)}
    JobPart.objects.create(
        job=job, list_name="exports", remote_id="9", position=1, status="rendering", **times
    )


@pytest.mark.parametrize("answer", [httpx.ReadTimeout, error_response(503, "DOWN")])
def test_a_failed_read_changes_only_the_next_time(
    job: Job, upstream: ScriptedUpstream, answer: Any
) -> None:
    create_export(job, 60)
    upstream.respond("GET", "/faceless/7", answer)
    read_when_due(job)
    assert 5 <= seconds_until_next(job) < 20
    assert job.parts.get().state == "running"


def test_without_requests_left_it_waits(job: Job, upstream: ScriptedUpstream) -> None:
    store = redis_client.connect_redis()
    rate_limiter.apply_rate_limit_headers(store, job.token.bucket, 30, 0)
    assert not rate_limiter.available(store, job.token.bucket, Priority.POLLING)
    read_when_due(job)
    assert (upstream.requests, seconds_until_next(job) > 0) == ([], True)


def test_a_task_that_runs_twice_reads_once(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/faceless/7", exports(status="rendering"))
    (lease,) = due_work.lease_due_part_reads()
    assert list(due_work.lease_due_part_reads()) == []
    read_job_parts(*lease)
    read_job_parts(*lease)
    assert len(upstream.requests) == 1


def test_a_tick_finds_it_after_its_task_was_lost(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []
    monkeypatch.setattr(tasks.read_job_parts_task, "delay", lambda *args: sent.append(args))
    tasks.tick()
    tasks.tick()
    assert [id for id, _ in sent] == [str(job.pk)]
    lost_until = datetime.fromisoformat(sent[0][1])
    assert lost_until - timezone.now() < timedelta(seconds=30)
    Job.objects.update(parts_due_at=ago(0))
    tasks.tick()
    assert [id for id, _ in sent] == [str(job.pk)] * 2


def test_a_token_that_does_not_work_is_not_used(job: Job) -> None:
    job.token.state = TokenState.PAUSED
    job.token.save()
    assert list(due_work.lease_due_part_reads()) == []


def test_a_running_video_is_read_by_its_polls(job: Job, upstream: ScriptedUpstream) -> None:
    Job.objects.update(state="running", next_poll_at=timezone.now())
    upstream.respond("GET", "/faceless/7", exports(status="rendering"))
    read_when_due(job)
    assert job.parts_due_at is None


def test_a_clock_that_was_set_back_stops_no_read(job: Job) -> None:
    read_parts_soon(job, timedelta(hours=3))
    due_work.reschedule_after_clock_rollback()
    assert list(due_work.lease_due_part_reads()) != []


def pay_for_part(job: Job, operation: str = "faceless.export", age: float = 60) -> None:
    ChargeFactory.create(job=job, operation=operation, applied_at=ago(age))


def test_a_failed_read_of_a_new_export_of_an_old_video_is_repeated(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Job.objects.update(finished_at=ago(3 * 86400))
    pay_for_part(job)
    upstream.respond("GET", "/faceless/7", error_response(503, "DOWN"))
    read_when_due(job)
    assert 5 <= seconds_until_next(job) < 90
    create_export(job, 2 * 86400)
    JobPart.objects.update(read_at=ago(2 * 86400))
    upstream.respond("GET", "/faceless/7", error_response(503, "DOWN"))
    Job.objects.update(parts_due_at=ago(0))
    read_when_due(job)
    assert 5 <= seconds_until_next(job) < 90


def test_failed_reads_of_a_draft_end_a_day_after_it_was_created(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Job.objects.update(state="draft", finished_at=None, created_at=ago(2 * 86400))
    upstream.respond("GET", "/faceless/7", error_response(503, "DOWN"))
    read_when_due(job)
    assert job.parts_due_at is None


def test_a_new_image_of_an_old_video_is_read_until_it_is_finished(
    job: Job, upstream: ScriptedUpstream
) -> None:
    create_export(job, 3 * 86400)
    pay_for_part(job, "ai_visuals.regenerate")
    upstream.respond("GET", "/faceless/7", exports(status="rendering"))
    read_when_due(job)
    assert 5 < seconds_until_next(job) <= 10


def test_a_person_can_have_a_paid_part_read_that_no_read_showed(job: Job) -> None:
    Job.objects.update(parts_due_at=None)
    assert not read_unfinished_parts_again(job), "nothing is in progress"
    pay_for_part(job)
    assert read_unfinished_parts_again(job)
    job.refresh_from_db()
    assert 4 < seconds_until_next(job) <= 5, "no resource is read more often than every 5 s"


def test_a_request_does_not_end_the_lease_of_a_read(job: Job) -> None:
    create_export(job, 60)
    ((_, until),) = due_work.lease_due_part_reads()
    assert read_unfinished_parts_again(job)
    job.refresh_from_db()
    assert job.parts_due_at == until
    Job.objects.update(parts_due_at=timezone.now() + timedelta(minutes=10))
    assert read_unfinished_parts_again(job)
    job.refresh_from_db()
    assert 4 < seconds_until_next(job) <= 5
