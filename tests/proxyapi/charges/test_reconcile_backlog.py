"""An old charge that could not be read is read as soon as the service answers, and not at its next
turn in ten minutes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
import redis
from django.utils import timezone

from proxyapi import rate_limiter, redis_client
from proxyapi.charges import reconcile_backlog, reconcile_charge
from proxyapi.models import Charge, ChargeState, Job
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.charges.conftest import SETTINGS, video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    history_page,
    make_response,
)

pytestmark = pytest.mark.postgresql

TEN_MINUTES = 600
Old = Callable[..., Charge]
Says = httpx.Response | type[Exception]


@pytest.fixture
def stale_charges(job: Job, upstream: ScriptedUpstream) -> Old:
    """Unknown charges of an hour ago, whose videos run and whose debits the ledger does not show:
    a person decides."""
    upstream.respond("GET", "/credits/history", history_page())

    def make(hours: float = 1) -> Charge:
        number = str(100 + Charge.objects.count())
        upstream.respond("GET", f"/faceless/{number}", make_response(video_response("rendering")))
        fields = {"account": job.account, "token": job.token, "tenant": job.tenant}
        own = JobFactory(
            remote_id=number, draft__settings=SETTINGS, draft__sent_settings=SETTINGS, **fields
        )
        ago = timezone.now() - timedelta(hours=hours)
        times = {"sent_at": ago, "created_at": ago, "lost_at": ago, "due_at": timezone.now()}
        before = {"status": "draft", "script": ""}
        return ChargeFactory(job=own, state=ChargeState.UNKNOWN, before=before, **times)

    return make


def read_and_reconcile(charge: Charge) -> None:
    """With an allowance that is known: a call that failed leaves it unknown."""
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), charge.token.bucket, 30, 30)
    reconcile_charge(charge.pk)


def seconds_until_next_read(charge: Charge) -> float:
    """Seconds until it is read again."""
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert charge.due_at is not None
    return (charge.due_at - timezone.now()).total_seconds()


def silent(upstream: ScriptedUpstream, *charges: Charge, says: Says = httpx.ConnectError) -> None:
    for charge in charges:
        assert charge.job is not None
        upstream.respond("GET", f"/faceless/{charge.job.remote_id}", says)


@pytest.mark.parametrize("says", [httpx.ConnectError, httpx.ReadTimeout, httpx.Response(503)])
def test_while_nobody_answers_one_of_the_old_ones_asks_for_all(
    stale_charges: Old, upstream: ScriptedUpstream, says: Says
) -> None:
    first, second = stale_charges(hours=2), stale_charges()
    silent(upstream, first, second, says=says)
    read_and_reconcile(first)
    read_and_reconcile(second)
    assert seconds_until_next_read(first) < 45
    assert seconds_until_next_read(second) > TEN_MINUTES - 5


def test_its_first_answer_makes_the_others_due_once(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    first, second, third = stale_charges(), stale_charges(), stale_charges()
    silent(upstream, first, second, third)
    for charge in (first, second, third):
        read_and_reconcile(charge)
    silent(upstream, first, second, third, says=make_response(video_response("rendering")))
    read_and_reconcile(first)
    assert seconds_until_next_read(first) > TEN_MINUTES - 5
    assert max(seconds_until_next_read(second), seconds_until_next_read(third)) < 1
    read_and_reconcile(second)
    assert seconds_until_next_read(second) > TEN_MINUTES - 5
    assert seconds_until_next_read(first) > TEN_MINUTES - 5, "they do not wake each other for ever"


def test_one_whose_record_is_broken_does_not_have_the_others_read_for_ever(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    broken, second, third = stale_charges(), stale_charges(), stale_charges()
    silent(upstream, broken, says=httpx.Response(500))
    for charge in (broken, second, third, broken):
        read_and_reconcile(charge)
    assert min(seconds_until_next_read(second), seconds_until_next_read(third)) > TEN_MINUTES - 5
    assert seconds_until_next_read(broken) < 45


def test_a_refusal_shows_that_the_service_is_back(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    first, second = stale_charges(hours=2), stale_charges()
    silent(upstream, first, second)
    read_and_reconcile(first)
    read_and_reconcile(second)
    silent(upstream, first, says=error_response(404, "GEN-NOT-FOUND"))
    read_and_reconcile(first)
    assert seconds_until_next_read(second) < 1


def test_a_quarantined_charge_is_not_the_backlog_probe(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    first, second = stale_charges(hours=2), stale_charges()
    silent(upstream, first, second)
    read_and_reconcile(first)
    Charge.objects.filter(pk=first.pk).update(failures=5)
    read_and_reconcile(second)
    assert seconds_until_next_read(second) < 45


def test_those_of_another_service_are_left_alone(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    first, other = stale_charges(), stale_charges()
    silent(upstream, first, other)
    elsewhere = JobFactory(account__environment="https://api.videos.example/v2")
    Charge.objects.filter(pk=other.pk).update(account=elsewhere.account)
    read_and_reconcile(first)
    read_and_reconcile(other)
    rest = seconds_until_next_read(other)
    silent(upstream, first, says=make_response(video_response("rendering")))
    read_and_reconcile(first)
    assert seconds_until_next_read(other) > rest - 5


def test_a_record_that_stays_broken_is_asked_for_so_often_for_a_day_only(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    charge = stale_charges(hours=25)
    silent(upstream, charge)
    read_and_reconcile(charge)
    assert seconds_until_next_read(charge) > TEN_MINUTES - 5


def test_a_refusal_is_an_answer(stale_charges: Old, upstream: ScriptedUpstream) -> None:
    charge = stale_charges()
    silent(upstream, charge, says=error_response(403, "GEN-FORBIDDEN"))
    read_and_reconcile(charge)
    assert seconds_until_next_read(charge) > TEN_MINUTES - 5


def test_a_charge_without_a_permit_is_read_when_there_is_one(
    stale_charges: Old, upstream: ScriptedUpstream
) -> None:
    charge = stale_charges()
    rate_limiter.pause_bucket(redis_client.connect_redis(), charge.token.bucket, 30)
    reconcile_charge(charge.pk)
    assert 20 < seconds_until_next_read(charge) < 35
    assert upstream.requests == []


def test_without_redis_it_is_read_at_its_next_due_time(
    stale_charges: Old, monkeypatch: pytest.MonkeyPatch, upstream: ScriptedUpstream
) -> None:
    charge = stale_charges()
    silent(upstream, charge)

    def gone() -> redis.Redis:
        raise redis.ConnectionError

    monkeypatch.setattr(reconcile_backlog, "connect_redis", gone)
    read_and_reconcile(charge)
    assert seconds_until_next_read(charge) > TEN_MINUTES - 5
