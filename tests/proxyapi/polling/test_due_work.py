"""The tick: each token's best due jobs, as many as it may ask for now, each taken once."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi import calls, rate_limiter, redis_client, viewers
from proxyapi.models import Job, JobKind, JobState, RenderDurations, Token, TokenState
from proxyapi.polling import due_work
from proxyapi.rate_limiter import Priority
from tests.factories import TokenFactory

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]


def taken() -> list[UUID]:
    return [lease.job_id for lease in due_work.lease_due_jobs()]


def test_pitfall_19_a_token_gives_as_many_polls_as_it_has_requests(
    make_running_job, informed_rate_limiter, token
):
    informed_rate_limiter()
    for _ in range(10):
        make_running_job()
    room = rate_limiter.available(redis_client.connect_redis(), token.bucket, Priority.POLLING)
    assert len(taken()) == room == 2


def test_the_longest_unpolled_comes_first_where_nothing_is_learned(
    make_running_job, informed_rate_limiter
):
    informed_rate_limiter()
    jobs = [make_running_job(age=100, seen=seen) for seen in (6, 40, 20, 8)]
    assert taken() == [jobs[1].pk, jobs[2].pk]


def test_experience_puts_the_one_that_is_about_to_end_first(
    make_running_job, informed_rate_limiter
):
    informed_rate_limiter()
    new, near, old = make_running_job(age=30), make_running_job(age=100), make_running_job(age=900)
    for seconds in [98.0] * 9 + [99.0] * 9:
        RenderDurations.objects.add_duration(new, seconds)
    assert taken()[0] == near.pk
    assert old.pk not in taken() or new.pk not in taken()


def test_what_somebody_has_open_comes_first(make_running_job, informed_rate_limiter):
    informed_rate_limiter()
    jobs = [make_running_job(age=100, seen=12) for _ in range(6)]
    viewers.record_viewers([], [(jobs[4].tenant_id, jobs[4].pk)])
    assert taken()[0] == jobs[4].pk


def test_each_token_has_its_own_lease(make_running_job, informed_rate_limiter, token):
    """A hundred jobs of one token keep nobody else's waiting."""
    other = TokenFactory.create()
    informed_rate_limiter(token, other)
    for _ in range(20):
        make_running_job(age=500, seen=100)
    priyas = make_running_job(age=10, seen=6, of=other)
    assert priyas.pk in taken()


def test_a_token_in_two_teams_has_one_lease_for_both(
    make_running_job, informed_rate_limiter, token
):
    """And it is for the best of all their videos."""
    same = TokenFactory.create()
    Token.objects.update(fingerprint=token.fingerprint)
    informed_rate_limiter()
    for _ in range(10):
        make_running_job(age=500, seen=3)
        make_running_job(age=500, seen=3, of=same)
    longest = [make_running_job(age=500, seen=seen, of=same).pk for seen in (300, 200)]
    assert taken() == longest


def test_two_ticks_take_each_job_once(make_running_job, informed_rate_limiter):
    informed_rate_limiter()
    jobs = {make_running_job().pk for _ in range(2)}
    assert set(taken()) == jobs
    assert taken() == []


def test_a_lost_task_message_is_sent_again_within_thirty_seconds(
    make_running_job, informed_rate_limiter
):
    informed_rate_limiter()
    job = make_running_job()
    assert taken() == [job.pk]
    job.refresh_from_db()
    assert job.next_poll_at < timezone.now() + timedelta(seconds=17)


@pytest.mark.parametrize("state", [TokenState.PAUSED, TokenState.REVOKED, TokenState.REMOVED])
def test_pitfall_85_88_jobs_of_a_stopped_token_wait_for_it(
    make_running_job, informed_rate_limiter, token, state
):
    """And are due at once when it works again: nobody has to remember them."""
    informed_rate_limiter()
    job = make_running_job()
    calls.change_token_state(token, state)
    assert taken() == []
    type(token).objects.update(state=TokenState.WORKING)
    assert taken() == [job.pk]


def test_a_paused_bucket_is_left_alone(make_running_job, informed_rate_limiter, token):
    informed_rate_limiter()
    make_running_job()
    rate_limiter.pause_bucket(redis_client.connect_redis(), token.bucket, 30)
    assert taken() == []


def test_without_redis_nothing_is_taken_and_nothing_raised(make_running_job, settings, tmp_path):
    make_running_job()
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    assert taken() == []


def test_after_a_flush_every_job_is_due_again_and_asked_for_slowly(
    make_running_job, informed_rate_limiter, token
):
    """The rows are the jobs; the bucket forgot, so it lets one through at a time."""
    informed_rate_limiter()
    for _ in range(100):
        make_running_job()
    redis_client.connect_redis().flushall()
    assert len(taken()) == 1
    lease = timezone.now() + due_work.PICKUP_TIMEOUT + timedelta(seconds=1)
    assert Job.objects.due(lease).count() == 100


def many(token, count, **more):
    now = timezone.now()
    owner = {
        "tenant": token.tenant,
        "account": token.account,
        "token": token,
        "member": token.owner,
    }
    times = {"started_at": now - timedelta(seconds=60), "polled_at": now - timedelta(seconds=9)}
    Job.objects.bulk_create(
        Job(
            **owner,
            kind=JobKind.FACELESS,
            title="Glacier",
            state=JobState.RUNNING,
            remote_id=f"{token.pk}-{number}",
            **({**times, "next_poll_at": now} | more),
        )
        for number in range(count)
    )


@pytest.mark.parametrize("count", [3, 300])
def test_a_tick_takes_five_queries_however_many_are_due(token, informed_rate_limiter, count):
    others = [TokenFactory.create() for _ in range(4)]
    informed_rate_limiter(token, *others)
    for one in (token, *others):
        many(one, count)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(taken()) == 10
    assert len(queries) == 5


def test_what_runs_and_is_not_due_costs_nothing(
    token, informed_rate_limiter, django_assert_num_queries
):
    """Ten thousand such rows: tests/drills/test_polling.py."""
    informed_rate_limiter()
    many(token, 300, next_poll_at=timezone.now() + timedelta(minutes=1))
    with django_assert_num_queries(1):
        assert taken() == []
