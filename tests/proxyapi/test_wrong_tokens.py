"""Wrong tokens are tried at the service a few times a minute, by one member and by a whole team."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import httpx
import pytest
import redis
import time_machine
from django.utils import timezone

from proxyapi import throttle, tokens
from proxyapi.models import Tenant, Token
from proxyapi.refusals import Refusal, TooManyAttempts
from proxyapi.upstream.secret import Secret
from tests.factories import TenantFactory, UserFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

ME = ("GET", "/me")
UNKNOWN = error_response(401, "GEN-UNAUTHORIZED")
pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Tenant:
    tenant: Tenant = TenantFactory()
    return tenant


def try_one(team: Tenant, member: Any, number: int) -> str:
    """What is said to somebody who pastes one."""
    with pytest.raises(Refusal) as refusal:
        tokens.store_token(team, member.pk, Secret(f"sbx_wrong{number:020}"))
    return refusal.value.sentence


def test_of_forty_wrong_tokens_of_a_member_five_reach_the_service(
    team: Tenant, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, UNKNOWN)
    mira = UserFactory()
    said = [try_one(team, mira, number) for number in range(40)]
    assert len(upstream.requests) == 5
    assert said[4].startswith("The service does not recognize this token.")
    assert "Too many tokens were tried within a minute. This one was not sent" in said[5]
    assert "in 60 s." in said[5] or "in 59 s." in said[5]
    assert "sbx_" not in "".join(said)


def test_of_a_team_fifteen_do_and_another_team_is_not_kept_waiting(
    team: Tenant, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, UNKNOWN)
    members = [UserFactory() for _ in range(4)]
    for number in range(20):
        try_one(team, members[number % 4], number)
    assert len(upstream.requests) == 15
    try_one(TenantFactory(), UserFactory(), 99)
    assert len(upstream.requests) == 16


def test_a_minute_later_they_are_tried_again(team: Tenant, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, UNKNOWN)
    mira = UserFactory()
    now = timezone.now()
    for seconds, wanted in ((0, 5), (59, 5), (61, 10)):
        with time_machine.travel(now + timedelta(seconds=seconds), tick=False):
            for number in range(8):
                try_one(team, mira, 100 * seconds + number)
        assert len(upstream.requests) == wanted


def test_tokens_that_the_service_knows_do_not_count(
    team: Tenant, upstream: ScriptedUpstream
) -> None:
    plan = {"exists": True, "active": True, "trial": False}
    upstream.respond(*ME, make_response({"id": 5, "subscription": plan}))
    mira = UserFactory()
    for number in range(12):
        tokens.store_token(team, mira.pk, Secret(f"sbx_right{number:020}"))
    assert Token.objects.count() == 12


def test_tries_at_once_are_no_more_than_one_after_the_other(upstream: ScriptedUpstream) -> None:
    passed, limits = [], {"of-somebody": 5}

    def attempt() -> None:
        try:
            passed.append(throttle.count_attempt(limits, "Wait {wait} s."))
        except TooManyAttempts:
            return

    threads = [threading.Thread(target=attempt) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 5


def test_without_redis_nothing_is_tried(
    team: Tenant, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> redis.Redis:
        return redis.Redis.from_url("unix:///nowhere/valkey.sock")

    monkeypatch.setattr(throttle, "connect_redis", away)
    with pytest.raises(TooManyAttempts, match="rate limiter is not responding"):
        tokens.store_token(team, UserFactory().pk, Secret(f"sbx_wrong{0:020}"))
    assert upstream.requests == []


def test_a_service_that_does_not_answer_is_not_asked_more_often(
    team: Tenant, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, httpx.ConnectError)
    mira = UserFactory()
    for number in range(9):
        try_one(team, mira, number)
    assert len(upstream.requests) == 5
