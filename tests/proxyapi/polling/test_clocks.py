"""Clocks that jump. Nothing is looked at too often, and nothing waits for an hour."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from proxyapi import rate_limiter
from proxyapi.models import Job, JobState
from proxyapi.operations import RatePool
from proxyapi.polling import due_work
from proxyapi.polling import poller as looking
from proxyapi.rate_limiter import Permit, Priority
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

NOW, HOUR = 10**13, 3_600_000


def taken(store, at, attempts=40):
    rate_limiter.apply_rate_limit_headers(store, "luca", 30, 30, at=at)
    return sum(
        rate_limiter.try_acquire(store, "luca", Priority.PERSON, at=at).is_granted
        for _ in range(attempts)
    )


def test_after_a_clock_was_put_back_what_was_spent_counts_for_a_minute_more(store):
    assert taken(store, NOW) == 30
    assert taken(store, NOW - HOUR) == 0
    assert taken(store, NOW - HOUR + 61_001) == 30


def test_after_a_clock_rollback_polling_keeps_its_pace(store):
    for second in range(10):
        rate_limiter.apply_rate_limit_headers(store, "luca", 30, 30, at=NOW + 1000 * second)
        rate_limiter.try_acquire(store, "luca", Priority.POLLING, at=NOW + 1000 * second)
    back = NOW - HOUR
    grants = [
        rate_limiter.try_acquire(
            store, "luca", Priority.POLLING, at=back + 1000 * second
        ).is_granted
        for second in range(30)
    ]
    assert 10 <= sum(grants) <= 15


@pytest.mark.parametrize("name", ["luca", RatePool.SCRAPING.bucket_name("seven")])
def test_after_a_clock_was_set_back_a_pause_is_as_long_as_the_service_asked(store, name):
    """Counted from then on; in an hour nobody would wait for the minute that was told."""
    rate_limiter.pause_bucket(store, name, 60, at=NOW)
    back = NOW - HOUR
    assert rate_limiter.try_acquire(store, name, Priority.PERSON, at=back) == rate_limiter.Permit(
        False, 60
    )
    assert rate_limiter.try_acquire(store, name, Priority.PERSON, at=back + 59_000).wait_s == 1
    assert rate_limiter.try_acquire(store, name, Priority.PERSON, at=back + 60_000).is_granted


def test_after_a_clock_was_put_back_a_blind_bucket_goes_on_slowly(store):
    assert rate_limiter.try_acquire(store, "luca", Priority.PERSON, at=NOW).is_granted
    grants = [
        second
        for second in range(10)
        if rate_limiter.try_acquire(
            store, "luca", Priority.PERSON, at=NOW - HOUR + 1000 * second
        ).is_granted
    ]
    assert grants == [3, 6, 9]


def test_after_a_clock_was_put_back_nothing_is_kept_for_people_who_left(store):
    assert taken(store, NOW) == 30
    back, later = NOW - HOUR, NOW - HOUR + 600_000
    rate_limiter.available(store, "luca", Priority.POLLING, at=back)
    rate_limiter.apply_rate_limit_headers(store, "luca", 30, 5, at=later)
    assert rate_limiter.available(store, "luca", Priority.POLLING, at=later) == 2


def test_after_a_clock_was_put_forward_the_bucket_goes_on(store):
    assert taken(store, NOW) == 30
    assert taken(store, NOW + HOUR) == 30


@pytest.mark.django_db
def test_a_job_that_was_polled_in_the_future_is_due_again(make_running_job, informed_rate_limiter):
    hour = timedelta(hours=1)
    ahead = make_running_job()
    Job.objects.update(polled_at=timezone.now() + hour, next_poll_at=timezone.now() + hour)
    fine = make_running_job(next_poll_at=timezone.now() + hour)
    assert due_work.lease_due_jobs() == []
    assert due_work.reschedule_after_clock_rollback() == 1
    soon = timezone.now() + timedelta(seconds=6)
    assert list(Job.objects.due(soon)) == [ahead]
    fine.refresh_from_db()
    assert fine.state == JobState.RUNNING


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("next_look", "age", "mended"),
    [
        (timedelta(days=1), timedelta(minutes=5), 1),
        (timedelta(days=3650), timedelta(days=3), 1),
        (timedelta(days=3650), timedelta(days=31), 0),
        (timedelta(minutes=70), timedelta(days=2), 0),
    ],
    ids=["failed then", "given up then", "given up for good", "rests"],
)
def test_a_poll_that_failed_in_the_future_is_due_again(make_running_job, next_look, age, mended):
    """Its job was seen before the clock was wrong: the next look alone tells."""
    now = timezone.now()
    job = make_running_job(next_poll_at=now + next_look, started_at=now - age)
    assert due_work.reschedule_after_clock_rollback() == mended
    job.refresh_from_db()
    assert (job.next_poll_at < now + timedelta(minutes=1)) is bool(mended)
    assert job.polled_at < now


@pytest.mark.django_db
def test_five_seconds_run_from_the_sending_however_long_the_counter_took(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream, monkeypatch
):
    """Else the look after a slow one would come too early for the service."""
    informed_rate_limiter()
    job = make_running_job()
    upstream.respond(
        "GET", "/faceless/1", make_response({"id": 1, "video": {"status": "rendering"}})
    )
    clock = [timezone.now()]

    def slow(*_: object) -> Permit:
        clock[0] += timedelta(seconds=3)
        return Permit(True, 0)

    monkeypatch.setattr(rate_limiter, "acquire", slow)
    monkeypatch.setattr(timezone, "now", lambda: clock[0])
    looking.poll_job(job.pk)
    job.refresh_from_db()
    assert job.polled_at == clock[0]
    assert job.next_poll_at is not None
    assert job.next_poll_at >= clock[0] + timedelta(seconds=5)
