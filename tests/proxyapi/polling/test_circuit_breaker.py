"""While a service is away one look asks for all, and no worker beside that one's waits for it."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi import rate_limiter, redis_client
from proxyapi.models import Job
from proxyapi.polling import circuit_breaker, due_work
from proxyapi.polling import poller as looking
from proxyapi.rate_limiter import RateLimitExhausted
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

pytestmark = pytest.mark.django_db


@pytest.fixture
def environment(token) -> str:
    """Of a service that is there."""
    return str(token.account.environment)


@pytest.fixture
def open_circuit(environment: str) -> str:
    for _ in range(circuit_breaker.OUTAGE_FAILURE_COUNT):
        circuit_breaker.record_unanswered_poll(environment)
    return environment


def may_poll(environment: str) -> bool:
    with circuit_breaker.half_open_slot(environment) as may:
        return may


def meanwhile(running, upstream: ScriptedUpstream) -> Job:
    """The second of two, which a worker takes up while the first waits for its answer."""
    first, second = running(), running()

    def unanswered(_: httpx.Request) -> httpx.Response:
        looking.poll_job(second.pk)
        raise httpx.ConnectError("the wire broke")

    upstream.respond("GET", f"/faceless/{first.remote_id}", unanswered)
    upstream.respond("GET", f"/faceless/{second.remote_id}", make_response({"id": 2}))
    looking.poll_job(first.pk)
    second.refresh_from_db()
    return second


def test_a_poll_beside_the_probe_is_not_sent_and_put_off(
    make_running_job, informed_rate_limiter, open_circuit, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    second = meanwhile(make_running_job, upstream)
    assert len(upstream.requests) == 1
    assert second.next_poll_at is not None
    wait = (second.next_poll_at - timezone.now()).total_seconds()
    assert circuit_breaker.PROBE_INTERVAL_S - 1 < wait <= circuit_breaker.PROBE_INTERVAL_S
    assert second.failures == 0


def test_with_a_closed_circuit_any_number_of_polls_wait(
    make_running_job, informed_rate_limiter, environment, upstream: ScriptedUpstream
):
    informed_rate_limiter()
    meanwhile(make_running_job, upstream)
    assert len(upstream.requests) == 2


def test_while_one_is_out_the_tick_takes_none_and_after_it_one(
    make_running_job, informed_rate_limiter, open_circuit
):
    informed_rate_limiter()
    make_running_job()
    make_running_job()
    with circuit_breaker.half_open_slot(open_circuit) as may:
        assert may
        assert due_work.lease_due_jobs() == []
    assert len(due_work.lease_due_jobs()) == 1


def test_a_poll_without_a_permit_leaves_the_probe_to_the_next(
    make_running_job, open_circuit, token, upstream
):
    rate_limiter.pause_bucket(redis_client.connect_redis(), token.bucket, 20)
    looking.poll_job(make_running_job().pk)
    assert upstream.requests == []
    assert may_poll(open_circuit)


@pytest.mark.parametrize("trouble", [RuntimeError, RateLimitExhausted(20)])
def test_a_poll_that_crashed_leaves_the_probe_to_the_next(open_circuit, trouble):
    with (
        pytest.raises((RuntimeError, RateLimitExhausted)),
        circuit_breaker.half_open_slot(open_circuit),
    ):
        assert not may_poll(open_circuit)
        raise trouble
    assert may_poll(open_circuit)


def test_a_refused_poll_does_not_end_the_probe(open_circuit):
    with circuit_breaker.half_open_slot(open_circuit):
        assert not may_poll(open_circuit)
        assert not may_poll(open_circuit)


def test_of_two_services_the_one_that_is_there_is_asked(open_circuit):
    with circuit_breaker.half_open_slot(open_circuit):
        assert may_poll("https://api.videos.example/v2")


@pytest.mark.parametrize("was_away", [False, True])
def test_without_redis_nobody_asks_a_service_that_is_away_and_nothing_is_raised(
    open_circuit, was_away, settings, tmp_path, monkeypatch
):
    """It may go between the question whether it is away and the next."""
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    if was_away:
        monkeypatch.setattr(circuit_breaker, "is_circuit_open", lambda _: True)
    assert may_poll(open_circuit) is not was_away
    assert not circuit_breaker.acquire_probe_turn(open_circuit)
    assert circuit_breaker.time_since_outage(open_circuit) == timedelta.max
