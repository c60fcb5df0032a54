"""While a service is away one look asks for all, and no worker beside that one's waits for it."""

from __future__ import annotations

from math import inf

import httpx
import pytest
from django.utils import timezone

from proxyapi import rate_limiter
from proxyapi.models import Job
from proxyapi.rate_limiter import RateLimitExhausted
from proxyapi.watching import due, outage
from proxyapi.watching import look as looking
from tests.proxyapi.upstream_script import Upstream, answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def environment(token) -> str:
    """Of a service that is there."""
    return str(token.account.environment)


@pytest.fixture
def away(environment: str) -> str:
    for _ in range(outage.AWAY_AFTER):
        outage.failed(environment)
    return environment


def may_look(environment: str) -> bool:
    with outage.one_at_a_time(environment) as may:
        return may


def meanwhile(running, upstream: Upstream) -> Job:
    """The second of two, which a worker takes up while the first waits for its answer."""
    first, second = running(), running()

    def unanswered(_: httpx.Request) -> httpx.Response:
        looking.look(second.pk)
        raise httpx.ConnectError("the wire broke")

    upstream.on("GET", f"/faceless/{first.remote_id}", unanswered)
    upstream.on("GET", f"/faceless/{second.remote_id}", answer({"id": 2}))
    looking.look(first.pk)
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
    assert outage.PROBE_EVERY - 1 < wait <= outage.PROBE_EVERY
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
    with outage.one_at_a_time(away) as may:
        assert may
        assert due.jobs() == []
    assert len(due.jobs()) == 1


def test_a_look_that_had_no_allowance_leaves_the_turn_to_the_next(running, away, token, upstream):
    rate_limiter.pause_bucket(rate_limiter.redis_connection(), token.bucket, 20)
    looking.look(running().pk)
    assert upstream.requests == []
    assert may_look(away)


@pytest.mark.parametrize("trouble", [RuntimeError, RateLimitExhausted(20)])
def test_a_look_that_broke_leaves_the_turn_to_the_next(away, trouble):
    with pytest.raises((RuntimeError, RateLimitExhausted)), outage.one_at_a_time(away):
        assert not may_look(away)
        raise trouble
    assert may_look(away)


def test_who_was_turned_away_does_not_end_the_turn_of_the_one_who_asks(away):
    with outage.one_at_a_time(away):
        assert not may_look(away)
        assert not may_look(away)


def test_of_two_services_the_one_that_is_there_is_asked(away):
    with outage.one_at_a_time(away):
        assert may_look("https://api.videos.example/v2")


@pytest.mark.parametrize("was_away", [False, True])
def test_without_redis_nobody_asks_a_service_that_is_away_and_nothing_is_raised(
    away, was_away, settings, tmp_path, monkeypatch
):
    """It may go between the question whether it is away and the next."""
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    if was_away:
        monkeypatch.setattr(outage, "is_away", lambda _: True)
    assert may_look(away) is not was_away
    assert not outage.may_probe(away)
    assert outage.over_for(away) == inf
