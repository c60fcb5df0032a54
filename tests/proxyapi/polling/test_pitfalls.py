"""Pitfalls of polling and of the rate limit that no other test here names."""

from __future__ import annotations

import pytest

from proxyapi import rate_limiter, redis_client
from proxyapi.models import Job, JobKind, JobState
from proxyapi.polling import due_work
from proxyapi.polling import poller as looking
from proxyapi.rate_limiter import Priority
from tests.factories import JobFactory, TokenFactory
from tests.proxyapi.polling.conftest import ago
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

pytestmark = pytest.mark.django_db


def test_pitfall_8_the_failing_word_of_other_kinds_fails_a_storyboard_and_no_other_word(
    make_running_job, informed_rate_limiter, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    job = make_running_job(kind=JobKind.STORYBOARD)
    for word, state in (("stopped", JobState.RUNNING), ("failed", JobState.FAILED)):
        record = {"id": 1, "video": {"status": word}}
        upstream.respond("GET", "/text-to-scene/1", make_response(record))
        Job.objects.update(polled_at=ago(60), next_poll_at=ago(1))
        looking.poll_job(job.pk)
        job.refresh_from_db()
        assert (job.state, job.raw_status) == (state, word)


def test_pitfall_9_drafts_are_not_polled(informed_rate_limiter, token):
    informed_rate_limiter()
    JobFactory.create(token=token, account=token.account, tenant=token.tenant, remote_id="7")
    Job.objects.update(next_poll_at=ago(60))
    assert due_work.lease_due_jobs() == []


def test_pitfall_25_the_window_is_kept_here_because_a_200_has_no_headers_for_it(token):
    store, name = redis_client.connect_redis(), token.bucket
    rate_limiter.apply_rate_limit_headers(store, name, 30, 29)
    for _ in range(40):
        rate_limiter.try_acquire(store, name, Priority.PERSON)
    level = rate_limiter.peek_bucket(store, name)
    assert (level.limit, level.remaining) == (30, 0)
    assert 55 < level.resets_in_s <= 61


def test_pitfall_32_a_second_token_of_the_account_does_not_lend_its_requests(
    make_running_job, informed_rate_limiter, token, upstream: ScriptedUpstream
):
    """pitfall_03: each job is looked at with the token that made it."""
    other = TokenFactory.create(account=token.account, owner=token.owner)
    informed_rate_limiter(token, other)
    job = make_running_job()
    rate_limiter.pause_bucket(redis_client.connect_redis(), token.bucket, 60)
    assert due_work.lease_due_jobs() == []
    looking.poll_job(job.pk)
    assert upstream.requests == []
