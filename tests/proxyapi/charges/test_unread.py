"""An old charge that could not be read is read as soon as the service answers, and not at its next
turn in ten minutes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
import redis
from django.utils import timezone

from proxyapi import rate_limiter
from proxyapi.charges import reconcile_backlog, reconcile_charge
from proxyapi.models import Charge, ChargeState, Job
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.charges.conftest import SETTINGS, video
from tests.proxyapi.upstream_script import Upstream, answer, history, refused

TEN_MINUTES = 600
Old = Callable[..., Charge]
Says = httpx.Response | type[Exception]


@pytest.fixture
def old(job: Job, upstream: Upstream) -> Old:
    """Unknown charges of an hour ago, whose videos run and whose debits the ledger does not show:
    a person decides."""
    upstream.on("GET", "/credits/history", history())

    def make(hours: float = 1) -> Charge:
        number = str(100 + Charge.objects.count())
        upstream.on("GET", f"/faceless/{number}", answer(video("rendering")))
        fields = {"account": job.account, "token": job.token, "vault": job.vault}
        own = JobFactory(remote_id=number, wanted=SETTINGS, sent=SETTINGS, **fields)
        ago = timezone.now() - timedelta(hours=hours)
        times = {"sent_at": ago, "created_at": ago, "lost_at": ago, "due_at": timezone.now()}
        before = {"status": "draft", "script": ""}
        return ChargeFactory(job=own, state=ChargeState.UNKNOWN, before=before, **times)

    return make


def read(charge: Charge) -> None:
    """With an allowance that is known: a call that failed leaves it unknown."""
    rate_limiter.apply_rate_limit_headers(
        rate_limiter.redis_connection(), charge.token.bucket, 30, 30
    )
    reconcile_charge(charge.pk)


def rest_of(charge: Charge) -> float:
    """Seconds until it is read again."""
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert charge.due_at is not None
    return (charge.due_at - timezone.now()).total_seconds()


def silent(upstream: Upstream, *charges: Charge, says: Says = httpx.ConnectError) -> None:
    for charge in charges:
        assert charge.job is not None
        upstream.on("GET", f"/faceless/{charge.job.remote_id}", says)


@pytest.mark.parametrize("says", [httpx.ConnectError, httpx.ReadTimeout, httpx.Response(503)])
def test_while_nobody_answers_one_of_the_old_ones_asks_for_all(
    old: Old, upstream: Upstream, says: Says
) -> None:
    first, second = old(hours=2), old()
    silent(upstream, first, second, says=says)
    read(first)
    read(second)
    assert rest_of(first) < 45
    assert rest_of(second) > TEN_MINUTES - 5


def test_its_first_answer_makes_the_others_due_once(old: Old, upstream: Upstream) -> None:
    first, second, third = old(), old(), old()
    silent(upstream, first, second, third)
    for charge in (first, second, third):
        read(charge)
    silent(upstream, first, second, third, says=answer(video("rendering")))
    read(first)
    assert rest_of(first) > TEN_MINUTES - 5
    assert max(rest_of(second), rest_of(third)) < 1
    read(second)
    assert rest_of(second) > TEN_MINUTES - 5
    assert rest_of(first) > TEN_MINUTES - 5, "they do not wake each other for ever"


def test_one_whose_record_is_broken_does_not_have_the_others_read_for_ever(
    old: Old, upstream: Upstream
) -> None:
    broken, second, third = old(), old(), old()
    silent(upstream, broken, says=httpx.Response(500))
    for charge in (broken, second, third, broken):
        read(charge)
    assert min(rest_of(second), rest_of(third)) > TEN_MINUTES - 5
    assert rest_of(broken) < 45


def test_a_refusal_tells_that_the_service_is_back(old: Old, upstream: Upstream) -> None:
    first, second = old(hours=2), old()
    silent(upstream, first, second)
    read(first)
    read(second)
    silent(upstream, first, says=refused(404, "GEN-NOT-FOUND"))
    read(first)
    assert rest_of(second) < 1


def test_one_that_is_parked_asks_for_nobody(old: Old, upstream: Upstream) -> None:
    first, second = old(hours=2), old()
    silent(upstream, first, second)
    read(first)
    Charge.objects.filter(pk=first.pk).update(crashes=5)
    read(second)
    assert rest_of(second) < 45


def test_those_of_another_service_are_left_alone(old: Old, upstream: Upstream) -> None:
    first, other = old(), old()
    silent(upstream, first, other)
    elsewhere = JobFactory(account__environment="https://api.videos.example/v2")
    Charge.objects.filter(pk=other.pk).update(account=elsewhere.account)
    read(first)
    read(other)
    rest = rest_of(other)
    silent(upstream, first, says=answer(video("rendering")))
    read(first)
    assert rest_of(other) > rest - 5


def test_a_record_that_stays_broken_is_asked_for_so_often_for_a_day_only(
    old: Old, upstream: Upstream
) -> None:
    charge = old(hours=25)
    silent(upstream, charge)
    read(charge)
    assert rest_of(charge) > TEN_MINUTES - 5


def test_a_refusal_is_an_answer(old: Old, upstream: Upstream) -> None:
    charge = old()
    silent(upstream, charge, says=refused(403, "GEN-FORBIDDEN"))
    read(charge)
    assert rest_of(charge) > TEN_MINUTES - 5


def test_one_that_had_no_turn_is_read_when_there_is_one(old: Old, upstream: Upstream) -> None:
    charge = old()
    rate_limiter.pause_bucket(rate_limiter.redis_connection(), charge.token.bucket, 30)
    reconcile_charge(charge.pk)
    assert 20 < rest_of(charge) < 35
    assert upstream.requests == []


def test_without_redis_it_is_read_at_its_next_turn(
    old: Old, monkeypatch: pytest.MonkeyPatch, upstream: Upstream
) -> None:
    charge = old()
    silent(upstream, charge)

    def gone() -> redis.Redis:
        raise redis.ConnectionError

    monkeypatch.setattr(reconcile_backlog, "redis_connection", gone)
    read(charge)
    assert rest_of(charge) > TEN_MINUTES - 5
