"""While a service is away one look asks for all, and no worker beside that one's waits for it."""

from __future__ import annotations

from math import inf

import httpx
import pytest
from django.utils import timezone

from proxyapi import rate_limiter
from proxyapi.models import Job
from proxyapi.polling import circuit_breaker, due_work
from proxyapi.polling import poller as looking
from proxyapi.rate_limiter import RateLimitExhausted
from tests.proxyapi.upstream_script import Upstream, answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def environment(token) -> str:
    """Of a service that is there."""
    return str(token.account.environment)


@pytest.fixture
def away(environment: str) -> str:
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT):
        circuit_breaker.record_unanswered_poll(environment)
    return environment


def may_look(environment: str) -> bool:
    with circuit_breaker.half_open_slot(environment) as may:
        return may


def meanwhile(running, upstream: Upstream) -> Job:
    """The second of two, which a worker takes up while the first waits for its answer."""
    first, second = running(), running()

    def unanswered(_: httpx.Request) -> httpx.Response:
        looking.poll_job(second.pk)
        raise httpx.ConnectError("the wire broke")

    upstream.on("GET", f"/faceless/{first.remote_id}", unanswered)
    upstream.on("GET", f"/faceless/{second.remote_id}", answer({"id": 2}))
    looking.poll_job(first.pk)
    second.refresh_from_db()
    return second


def test_a_look_beside_the_one_that_asks_is_not_sent_and_put_off(
    running, seeing, away, upstream: Upstream
):
    seeing()
    second = meanwhile(running, upstream)
    assert len(upstream.requests) == 1
    assert second.next_look_at is not None
    wait = (second.next_look_at - timezone.now()).total_seconds()
    assert circuit_breaker.PROBE_INTERVAL_S - 1 < wait <= circuit_breaker.PROBE_INTERVAL_S
    assert second.crashes == 0


def test_of_a_service_that_is_there_any_number_of_looks_wait(
    running, seeing, environment, upstream: Upstream
):
    seeing()
    meanwhile(running, upstream)
    assert len(upstream.requests) == 2


def test_while_one_is_out_the_tick_takes_none_and_after_it_one(running, seeing, away):
    seeing()
    running()
    running()
    with circuit_breaker.half_open_slot(away) as may:
        assert may
        assert due_work.lease_due_jobs() == []
    assert len(due_work.lease_due_jobs()) == 1


def test_a_look_that_had_no_allowance_leaves_the_turn_to_the_next(running, away, token, upstream):
    rate_limiter.pause_bucket(rate_limiter.redis_connection(), token.bucket, 20)
    looking.poll_job(running().pk)
    assert upstream.requests == []
    assert may_look(away)


@pytest.mark.parametrize("trouble", [RuntimeError, RateLimitExhausted(20)])
def test_a_look_that_broke_leaves_the_turn_to_the_next(away, trouble):
    with pytest.raises((RuntimeError, RateLimitExhausted)), circuit_breaker.half_open_slot(away):
        assert not may_look(away)
        raise trouble
    assert may_look(away)


def test_who_was_turned_away_does_not_end_the_turn_of_the_one_who_asks(away):
    with circuit_breaker.half_open_slot(away):
        assert not may_look(away)
        assert not may_look(away)


def test_of_two_services_the_one_that_is_there_is_asked(away):
    with circuit_breaker.half_open_slot(away):
        assert may_look("https://api.videos.example/v2")


@pytest.mark.parametrize("was_away", [False, True])
def test_without_redis_nobody_asks_a_service_that_is_away_and_nothing_is_raised(
    away, was_away, settings, tmp_path, monkeypatch
):
    """It may go between the question whether it is away and the next."""
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    if was_away:
        monkeypatch.setattr(circuit_breaker, "is_circuit_open", lambda _: True)
    assert may_look(away) is not was_away
    assert not circuit_breaker.acquire_probe_turn(away)
    assert circuit_breaker.seconds_since_outage(away) == inf
