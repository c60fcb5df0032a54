"""What was answered is kept, whatever breaks beside it: Redis, a counter, an odd number or word."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
import redis
from django.utils import timezone
from redis.backoff import NoBackoff
from redis.retry import Retry

from proxyapi import redis_client
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.models import ApiCall, Charge, ChargeState, Draft, Job, JobState, Token
from tests.proxyapi.charges.conftest import SETTINGS
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


@pytest.fixture
def redis_failure(monkeypatch: pytest.MonkeyPatch) -> Callable[[httpx.Response], Any]:
    """An answer that comes when Redis has just gone away."""

    def answering(response: httpx.Response) -> Callable[[httpx.Request], httpx.Response]:
        def handle(request: httpx.Request) -> httpx.Response:
            away = redis.Redis(unix_socket_path="/nowhere.sock", retry=Retry(NoBackoff(), 0))
            monkeypatch.setattr(redis_client, "connect_redis", lambda: away)
            return response

        return handle

    return answering


def test_a_charge_that_was_answered_while_redis_went_away_is_confirmed(
    make_held_charge: Held, upstream: ScriptedUpstream, redis_failure: Any
) -> None:
    upstream.respond(*RENDER, redis_failure(charged_response({"id": 7}, 92)))
    assert sent(make_held_charge()).state == ChargeState.CONFIRMED


@pytest.mark.parametrize(
    ("refusal", "state"),
    [
        (error_response(429, "RATE-LIMITED"), ChargeState.UNKNOWN),
        (error_response(403, "FEATURE-NOT-ALLOWED"), ChargeState.REFUSED),
    ],
)
def test_a_refusal_while_redis_went_away_is_not_taken_for_a_lost_answer(
    refusal: httpx.Response,
    state: str,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
    redis_failure: Any,
) -> None:
    upstream.respond(*RENDER, redis_failure(refusal))
    assert sent(make_held_charge()).state == state


def test_a_refusal_with_a_very_long_code_is_kept_and_proves_nothing(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, error_response(403, "X" * 64))
    assert sent(make_held_charge()).state == ChargeState.UNKNOWN
    assert ApiCall.objects.filter(code="X" * 60).count() == 1


@pytest.mark.parametrize("cost", [-5, 10**11, "1e30", True, {"credits": 3}, None])
def test_a_cost_that_cannot_be_is_left_to_the_ledger(
    cost: object, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, cost))
    assert sent(make_held_charge()).state == ChargeState.UNKNOWN
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_a_balance_that_cannot_be_does_not_lose_the_cost(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92, remaining=10**11))
    charge = sent(make_held_charge())
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 92)
    assert charge.account.balance == 1000 - 92


def test_a_script_with_words_no_database_holds_is_kept_without_them(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    body = rb'{"data": {"script": "Ice\u0000 moves \ud800."}, "meta": {"credits": {"cost": 4}}}'
    upstream.respond(*SCRIPTS, httpx.Response(200, content=body))
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    assert sent(charge).state == ChargeState.CONFIRMED
    job.refresh_from_db()
    assert job.draft.settings["script"] == "Ice moves ?."


def test_a_script_that_the_answer_does_not_show_is_read_back_before_it_counts(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """Else it is paid for and nobody has it."""
    upstream.respond(*SCRIPTS, charged_response("Ice flows.", 4))
    charge = sent(make_held_charge("faceless.scripts"))
    assert charge.state == ChargeState.UNKNOWN
    booked = {"credit_spend": "-4", "created_at": timezone.now().isoformat()}
    upstream.respond("GET", "/faceless/7", make_response({"id": 7, "script": "Ice flows."}))
    upstream.respond("GET", "/credits/history", history_page(booked))
    Charge.objects.update(quote=4, hold=4)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 4)
    assert job.draft.settings["script"] == "Ice flows."


def test_a_token_that_does_not_open_gives_the_credits_back_in_the_end(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The row waits its quarter of an hour, then it is parked with its reason."""
    charge = make_held_charge()
    Token.objects.update(ciphertext=b"not ours")
    assert sent(charge).state == ChargeState.HELD
    assert "token" in charge.reason
    assert upstream.requests == []
    Charge.objects.update(held_at=timezone.now() - timedelta(minutes=16))
    assert sent(charge).state == ChargeState.REFUSED


def test_i2_a_charge_that_is_found_unsent_long_after_is_not_sent(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The row of a restored backup, or of a queue that stood still for an hour."""
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    Charge.objects.update(held_at=timezone.now() - timedelta(hours=1))
    assert sent(charge).state == ChargeState.REFUSED
    assert upstream.requests == []


@pytest.mark.parametrize(
    "little", [{}, {"video": None}, {"video": {"url": None}}, {"video": {"status": None}}]
)
def test_a_patch_that_answers_little_is_no_evidence_of_how_it_was_before(
    little: dict[str, Any], job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    Draft.objects.update(settings={**SETTINGS, "voice_id": 4})
    job.refresh_from_db()
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7, **little}))
    upstream.respond(*RENDER, httpx.ReadTimeout)
    assert sent(make_held_charge()).before["status"] == "draft"


def test_a_reason_to_wait_does_not_outlast_the_wait(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, httpx.ConnectError, httpx.ReadTimeout)
    charge = make_held_charge()
    assert "could not be reached" in sent(charge).reason
    assert "could not be reached" not in sent(charge).reason
    assert charge.state == ChargeState.UNKNOWN
