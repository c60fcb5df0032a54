"""Looks that fail: each trouble has its own pace, and none of them touches the job's state."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from proxyapi import rate_limiter, redis_client
from proxyapi.events import EventType
from proxyapi.kinds import KindSpec
from proxyapi.models import Job, JobState
from proxyapi.models.job import MAX_JOB_CRASHES
from proxyapi.polling import circuit_breaker, due_work, job_quarantine
from proxyapi.polling import poller as looking
from proxyapi.rate_limiter import Priority
from tests.factories import TokenFactory
from tests.proxyapi.polling.conftest import ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

pytestmark = pytest.mark.django_db
RENDERING = make_response({"id": 1, "video": {"status": "rendering"}})


def poll_due_job(job: Job, lane: Priority = Priority.PERSON) -> Job:
    """The job after a look whose time came; people's lane has no pace to keep."""
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), job.token.bucket, 30, 30)
    Job.objects.filter(pk=job.pk).update(next_poll_at=timezone.now())
    looking.poll_job(job.pk, lane=lane)
    job.refresh_from_db()
    return job


def seconds_until_next_poll(job: Job) -> float:
    """Seconds until the next look."""
    assert job.next_poll_at is not None
    return (job.next_poll_at - timezone.now()).total_seconds()


@pytest.mark.parametrize(
    ("since", "least", "most"), [(0, 15, 25), (120, 90, 150), (9000, 700, 1100)]
)
def test_pitfall_2_a_video_that_is_not_found_is_polled_slowly(
    make_running_job, upstream: ScriptedUpstream, since, least, most
):
    job = make_running_job(
        poll_error="Not found.", poll_failing_since=ago(since) if since else None
    )
    upstream.respond("GET", f"/faceless/{job.remote_id}", error_response(404, "GEN-NOT-FOUND"))
    assert poll_due_job(job).state == JobState.RUNNING
    assert least < seconds_until_next_poll(job) < most


def test_pitfall_18_after_a_month_a_video_that_is_not_found_waits_for_somebody_to_ask(
    make_running_job, upstream: ScriptedUpstream
):
    month = 31 * 24 * 3600
    old, young = make_running_job(age=month), make_running_job()
    for job in (old, young):
        upstream.respond("GET", f"/faceless/{job.remote_id}", error_response(404, "GEN-NOT-FOUND"))
    assert poll_due_job(old).state == JobState.RUNNING
    assert seconds_until_next_poll(poll_due_job(young)) < 30
    old.refresh_from_db()
    assert seconds_until_next_poll(old) > month


def test_pitfall_26_a_rate_limited_poll_waits_for_retry_after(
    make_running_job, upstream: ScriptedUpstream
):
    job = make_running_job()
    limited = error_response(429, "RATE-LIMITED")
    limited.headers["Retry-After"] = "40"
    upstream.respond("GET", f"/faceless/{job.remote_id}", limited)
    assert 30 < seconds_until_next_poll(poll_due_job(job)) < 50


def test_while_nobody_answers_the_waits_differ_and_stay_short(
    make_running_job, upstream: ScriptedUpstream
):
    jobs = [make_running_job() for _ in range(12)]
    for job in jobs:
        upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.ConnectError)
    waits = [seconds_until_next_poll(poll_due_job(job)) for job in jobs]
    assert all(5 <= wait < 18 for wait in waits)
    assert len({round(wait, 2) for wait in waits}) > 6


def test_after_three_polls_without_an_answer_one_probes_for_all(
    make_running_job, informed_rate_limiter, token, upstream
):
    others = [TokenFactory.create(account=token.account) for _ in range(3)]
    informed_rate_limiter(token, *others)
    jobs = [make_running_job(of=one) for one in (token, *others) for _ in range(3)]
    for job in jobs:
        upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.ConnectError)
    for job in jobs[:3]:
        poll_due_job(job)
    assert len(due_work.lease_due_jobs()) == 1
    assert due_work.lease_due_jobs() == [], "and only every five seconds"
    told = Job.objects.exclude(poll_error="").count()
    assert told == len(jobs), "the page of each says since when nobody answers"
    circuit_breaker.close_circuit(token.account.environment)
    assert len(due_work.lease_due_jobs()) >= 4, "the first answer lets all tokens go on"


def test_a_slowly_polled_job_hit_by_an_outage_is_polled_when_it_is_over(
    make_running_job, upstream: ScriptedUpstream
):
    """Else its page said for an hour that the service is away."""
    job, rests = (
        make_running_job(),
        make_running_job(next_poll_at=timezone.now() + timedelta(minutes=40)),
    )
    upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(503))
    for _ in range(3):
        poll_due_job(job)
    rests.refresh_from_db()
    assert rests.poll_error
    assert rests.next_poll_at < timezone.now() + timedelta(seconds=20)


def test_videos_for_which_alone_the_service_breaks_do_not_keep_up_an_outage(
    make_running_job, informed_rate_limiter, token, upstream: ScriptedUpstream
):
    """They have the most to tell each time, and only the answer to another one ends it."""
    informed_rate_limiter(token)
    broken = [make_running_job(age=3600 + n) for n in range(3)]
    for job in broken:
        upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(500))
        poll_due_job(job)
    fine = make_running_job(age=60)
    upstream.respond("GET", f"/faceless/{fine.remote_id}", RENDERING)
    assert circuit_breaker.is_circuit_open(token.account.environment)
    of_broken = Job.objects.filter(pk__in=[job.pk for job in broken])
    of_broken.update(polled_at=ago(3000), next_poll_at=ago(1))
    Job.objects.filter(pk=fine.pk).update(next_poll_at=ago(2))
    assert [lease.job_id for lease in due_work.lease_due_jobs()] == [fine.pk]
    poll_due_job(fine)
    assert not circuit_breaker.is_circuit_open(token.account.environment)


def test_one_video_that_always_breaks_the_service_is_no_outage(
    make_running_job, upstream: ScriptedUpstream
):
    broken, fine = make_running_job(), make_running_job()
    upstream.respond("GET", f"/faceless/{broken.remote_id}", httpx.Response(500))
    upstream.respond("GET", f"/faceless/{fine.remote_id}", RENDERING)
    for _ in range(4):
        poll_due_job(broken)
        Job.objects.filter(pk=fine.pk).update(polled_at=ago(9))
        poll_due_job(fine)
    assert not circuit_breaker.is_circuit_open(fine.account.environment)


@pytest.mark.parametrize("videos", [1, 2])
def test_the_only_ones_that_break_the_service_are_an_outage_for_a_day_and_then_broken(
    make_running_job, upstream: ScriptedUpstream, time_machine, videos
):
    """Nobody else is there to tell, and it was asked for every 15 s for ever."""
    alone = [
        make_running_job(poll_error="A fault.", poll_failing_since=ago(23 * 3600))
        for _ in range(videos)
    ]
    for job in alone:
        upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(500))
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT):
        waits = [seconds_until_next_poll(poll_due_job(job)) for job in alone]
    assert all(5 <= wait <= 18 for wait in waits)
    assert circuit_breaker.is_circuit_open(alone[0].account.environment)
    time_machine.move_to(timezone.now() + timedelta(hours=2), tick=False)
    assert all(seconds_until_next_poll(poll_due_job(job)) > 700 for job in alone)
    assert not circuit_breaker.is_circuit_open(alone[0].account.environment)


def test_an_outage_of_more_than_a_day_of_three_stays_one(
    make_running_job, upstream: ScriptedUpstream
):
    jobs = [
        make_running_job(poll_error="Away.", poll_failing_since=ago(25 * 3600)) for _ in range(3)
    ]
    for job in (*jobs, *jobs):
        upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(500))
        poll_due_job(job)
    assert circuit_breaker.is_circuit_open(job.account.environment)


@pytest.mark.parametrize(("since", "least", "most"), [(0, 5, 9), (120, 90, 150), (9000, 700, 1100)])
def test_a_video_for_which_alone_the_service_fails_is_polled_slowly(
    make_running_job, upstream: ScriptedUpstream, since, least, most
):
    broken = make_running_job(
        poll_error="A fault.", poll_failing_since=ago(since) if since else None
    )
    fine = make_running_job()
    upstream.respond("GET", f"/faceless/{broken.remote_id}", httpx.Response(500))
    upstream.respond("GET", f"/faceless/{fine.remote_id}", RENDERING)
    poll_due_job(fine)
    assert least < seconds_until_next_poll(poll_due_job(broken)) < most


def test_who_fails_for_long_is_asked_often_while_the_service_is_away(
    make_running_job, upstream: ScriptedUpstream
):
    """Else it was looked at a quarter of an hour after the others when that is over."""
    job = make_running_job(poll_error="Away.", poll_failing_since=ago(9000))
    upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.ConnectError)
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT - 1):
        circuit_breaker.record_unanswered_poll(job.account.environment)
    assert 5 < seconds_until_next_poll(poll_due_job(job)) <= 18


@pytest.mark.parametrize(("minutes", "least", "most"), [(0, 5, 9), (10, 450, 750)])
def test_one_fault_after_an_outage_lasts_for_no_longer_than_that_is_over(
    make_running_job, upstream: ScriptedUpstream, time_machine, minutes, least, most
):
    """Those who waited it out have failed for long, and all of them did."""
    job = make_running_job(age=31 * 86400, poll_error="Away.", poll_failing_since=ago(26 * 3600))
    upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(502))
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT):
        circuit_breaker.record_unanswered_poll(job.account.environment)
    circuit_breaker.close_circuit(job.account.environment)
    time_machine.move_to(timezone.now() + timedelta(minutes=minutes), tick=False)
    assert least < seconds_until_next_poll(poll_due_job(job)) < most
    assert not job.is_polling_stopped


@pytest.mark.parametrize(
    ("days", "hours", "is_away", "rests"),
    [
        (31, 25, False, True),
        (31, 23, False, False),
        (31, 0, False, False),
        (31, 25, True, False),
        (29, 25, False, False),
    ],
)
def test_after_a_month_a_video_that_breaks_the_service_for_a_day_waits_for_somebody_to_ask(
    make_running_job, upstream: ScriptedUpstream, days, hours, is_away, rests
):
    since = ago(hours * 3600) if hours else None
    job = make_running_job(age=days * 86400, poll_error="A fault.", poll_failing_since=since)
    upstream.respond("GET", f"/faceless/{job.remote_id}", httpx.Response(500))
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT - 1 if is_away else 0):
        make_running_job()
        circuit_breaker.record_unanswered_poll(job.account.environment)
    assert poll_due_job(job).state == JobState.RUNNING
    assert job.is_polling_stopped is rests


def test_a_poison_row_is_quarantined_after_five_tries_and_the_others_go_on(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream, monkeypatch
):
    informed_rate_limiter()
    poison, fine = make_running_job(), make_running_job()
    upstream.respond("GET", f"/faceless/{poison.remote_id}", RENDERING)

    def broken(*_: object) -> None:
        raise RuntimeError("a row that nobody foresaw")

    monkeypatch.setattr(KindSpec, "read_status", broken)
    for _ in range(MAX_JOB_CRASHES):
        with pytest.raises(RuntimeError):
            poll_due_job(poison)
    poison.refresh_from_db()
    assert (poison.state, poison.poll_error) == (
        JobState.RUNNING,
        job_quarantine.POLLING_QUARANTINED_TEXT,
    )
    Job.objects.update(next_poll_at=timezone.now())
    assert [lease.job_id for lease in due_work.lease_due_jobs()] == [fine.pk]


def test_a_quarantined_video_is_polled_again_by_hand(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    job = make_running_job(
        failures=MAX_JOB_CRASHES, poll_error=job_quarantine.POLLING_QUARANTINED_TEXT
    )
    upstream.respond("GET", f"/faceless/{job.remote_id}", RENDERING)
    assert looking.poll_soon(job)
    assert poll_due_job(job).poll_error == ""
    assert job.failures == 0


def test_pitfall_18_after_a_month_polling_stops_until_a_person_asks(
    make_running_job, upstream: ScriptedUpstream
):
    job = make_running_job(age=31 * 86400, seen=3600)
    upstream.respond("GET", f"/faceless/{job.remote_id}", RENDERING)
    assert poll_due_job(job).state == JobState.RUNNING
    assert seconds_until_next_poll(job) > 86400 * 365
    assert job.poll_error.startswith("Still rendering after 30 days, so status checks stopped")
    assert looking.poll_soon(job)
    job.refresh_from_db()
    assert seconds_until_next_poll(job) <= 5


def test_again_does_nothing_for_a_video_that_ended(make_running_job):
    assert not looking.poll_soon(make_running_job(state=JobState.COMPLETED))


def test_a_duplicate_task_message_polls_once(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    job = make_running_job()
    upstream.respond("GET", f"/faceless/{job.remote_id}", RENDERING)
    lease = due_work.lease_due_jobs()[0]
    for _ in range(3):
        looking.poll_job(lease.job_id, lease.until)
    assert len(upstream.requests) == 1


def test_a_late_task_message_of_an_expired_lease_does_nothing(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    job = make_running_job()
    lease = due_work.lease_due_jobs()[0]
    Job.objects.filter(pk=job.pk).update(next_poll_at=timezone.now() + timedelta(seconds=3))
    looking.poll_job(lease.job_id, lease.until)
    assert upstream.requests == []


def test_rule_5_no_resource_is_asked_within_five_seconds(
    make_running_job, upstream: ScriptedUpstream
):
    job = make_running_job(seen=1)
    looking.poll_job(job.pk)
    job.refresh_from_db()
    assert upstream.requests == []
    assert 3 < seconds_until_next_poll(job) <= 4


def test_without_a_permit_the_poll_waits_and_nothing_is_said(
    make_running_job, upstream: ScriptedUpstream, token
):
    job = make_running_job()
    rate_limiter.pause_bucket(redis_client.connect_redis(), token.bucket, 20)
    assert poll_due_job(job).poll_error == ""
    assert 18 < seconds_until_next_poll(job) <= 20


def test_the_command_releases_quarantined_videos(make_running_job, capsys):
    parked = make_running_job(
        failures=MAX_JOB_CRASHES, poll_error=job_quarantine.POLLING_QUARANTINED_TEXT
    )
    over = make_running_job(state=JobState.COMPLETED)
    call_command("resume_polling", str(parked.pk), str(over.pk))
    parked.refresh_from_db()
    assert (parked.failures, parked.poll_error) == (0, "")
    said = capsys.readouterr().out
    assert f"{parked.pk}: will be polled within 5 s" in said
    assert f"{over.pk}: is not running" in said
    with pytest.raises(CommandError, match="no job"):
        call_command("resume_polling", str(over.account_id))


def test_an_end_is_shown_even_if_its_duration_cannot_be_stored(
    make_running_job, upstream: ScriptedUpstream, monkeypatch
):
    """No later look comes by a job that has ended."""
    told: list[object] = []
    monkeypatch.setattr(looking, "publish_event", lambda *news: told.append(news))

    def breaks(*_: object) -> None:
        raise RuntimeError("the database went away")

    monkeypatch.setattr(looking, "record_run_duration", breaks)
    job = make_running_job()
    film = {"status": "completed", "url": "http://127.0.0.1/a.mp4"}
    upstream.respond("GET", f"/faceless/{job.remote_id}", make_response({"id": 1, "video": film}))
    with pytest.raises(RuntimeError):
        poll_due_job(job)
    job.refresh_from_db()
    assert job.state == JobState.COMPLETED
    assert told == [(job.tenant_id, EventType.JOB, job.pk)]
