"""Sending: once at most, whoever calls how often; each answer ends in the state rule 2 names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from proxyapi.charges import dispatch_charge
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, TokenState
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")


def test_a_confirmed_render_settles_at_its_cost_and_starts_the_job(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92, remaining=908))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 92)
    assert job.state == JobState.RUNNING
    assert job.account.balance == 908
    assert job.account.held_credits() == 0


def test_a_retry_goes_without_a_body_and_starts_the_job_again(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.FAILED)
    job.refresh_from_db()
    retry = ("POST", "/faceless/7/retry")
    upstream.respond(*retry, charged_response({"id": 7}, 92))
    charge = make_held_charge("faceless.retry")
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.CONFIRMED, JobState.RUNNING)
    assert upstream.requests[-1].content == b""


def test_what_cannot_be_sent_at_all_is_given_up_at_once(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge("faceless.retry", body={"volume": 3})
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.reason.endswith("Nothing was sent.")
    assert charge.account.held_credits() == 0


def test_pitfall_39_a_task_that_runs_twice_sends_once(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    dispatch_charge(charge.pk)
    assert len(upstream.request_bodies(*RENDER)) == 1


def test_two_workers_that_read_it_together_send_once(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge()

    def meanwhile(request: httpx.Request) -> httpx.Response:
        Charge.objects.filter(pk=charge.pk).update(
            state=ChargeState.SENDING, sent_at=timezone.now()
        )
        return make_response({"id": 7, "video": {"status": "draft"}})

    upstream.respond("GET", "/faceless/7", meanwhile)
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(charge.pk)
    assert upstream.request_bodies(*RENDER) == []


@pytest.mark.parametrize("wire", [httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.ReadError])
def test_pitfall_37_a_lost_answer_is_unknown_and_not_sent_again(
    wire: type[Exception], make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, wire)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert charge.account.held_credits() == 106
    assert len(upstream.request_bodies(*RENDER)) == 1


def test_a_worker_presumed_dead_discards_its_answer(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge, long_ago = make_held_charge(), timezone.now() - timedelta(minutes=3)

    def meanwhile(request: httpx.Request) -> httpx.Response:
        Charge.objects.filter(pk=charge.pk).update(
            state=ChargeState.UNKNOWN, sent_at=long_ago, lost_at=long_ago
        )
        raise httpx.ReadError("the line broke")

    upstream.respond(*RENDER, meanwhile)
    began = timezone.now()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert charge.lost_at is not None
    assert charge.lost_at >= began


@pytest.mark.parametrize(
    "odd",
    [
        httpx.Response(500, json={"error": {"code": "GEN-API-ERROR"}}),
        httpx.Response(502, html="<h1>Bad gateway</h1>"),
        httpx.Response(202, content=b'{"data": {'),
        httpx.Response(302, headers={"Location": "https://elsewhere.example/"}),
        make_response({"id": 7}, 202),
    ],
)
def test_an_answer_that_proves_nothing_is_unknown(
    odd: httpx.Response, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, odd)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN


@pytest.mark.parametrize("wire", [httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout])
def test_what_provably_did_not_start_goes_back_in_line(
    wire: type[Exception], make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, wire, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (403, "GEN-FORBIDDEN", "A script is required before rendering."),
        (403, "FEATURE-NOT-ALLOWED", "not in the plan"),
        (404, "GEN-NOT-FOUND", "not found"),
        (403, "EMAIL-NOT-VERIFIED", "verify"),
    ],
)
def test_a_refusal_frees_the_hold_and_says_why(
    status: int, code: str, message: str, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, error_response(status, code, message))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.REFUSED, None)
    assert charge.reason
    assert charge.account.held_credits() == 0


def test_pitfall_58_too_few_credits_carries_the_balance(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(
        *RENDER, error_response(402, "INSUFFICIENT-CREDITS", "too few", required=412, available=388)
    )
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert "412" in charge.reason
    assert "388" in charge.reason
    assert charge.account.balance == 388


@pytest.mark.parametrize(
    ("balance", "extra", "learned"), [(5, 120, False), (5, 80, None), (200, 120, None)]
)
def test_a_refusal_of_what_extra_credits_would_have_paid_teaches_that_they_do_not(
    balance: int,
    extra: int,
    learned: bool | None,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond(*RENDER, error_response(402, "INSUFFICIENT-CREDITS", "too few"))
    charge = make_held_charge()
    Account.objects.update(balance=balance, extra_credits=extra)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.account.has_separate_extra is learned


def test_pitfall_88_a_revoked_token_is_asked_once(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", error_response(401, "GEN-UNAUTHORIZED"))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    charge.token.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.token.state == TokenState.REVOKED
    assert len(upstream.requests) == 1


def test_an_upstream_that_is_down_keeps_the_charge_for_a_quarter_of_an_hour(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", httpx.ConnectError)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    Charge.objects.filter(pk=charge.pk).update(held_at=timezone.now() - timedelta(minutes=16))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert "Nothing was charged" in charge.reason


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("reply", "state", "cost", "balance"),
    [
        (charged_response({"id": 7}, 92, remaining=908), ChargeState.CONFIRMED, 92, 908),
        (
            error_response(403, "FEATURE-NOT-ALLOWED", "not in the plan"),
            ChargeState.REFUSED,
            None,
            1000,
        ),
    ],
)
def test_no_connection_to_the_database_waits_for_the_answer_which_is_stored_all_the_same(
    reply: httpx.Response,
    state: ChargeState,
    cost: int | None,
    balance: int,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        assert connection.connection is None
        return reply

    upstream.respond(*RENDER, answer)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    charge.account.refresh_from_db()
    assert (charge.state, charge.cost, charge.failures) == (state, cost, 0)
    assert (charge.account.balance, charge.account.held_credits()) == (balance, 0)


@pytest.mark.parametrize("renewed", [50, 12_000])
def test_a_renewal_between_hold_and_charge_keeps_the_hold_and_the_answer_settles_it(
    renewed: int, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """A renewal sets the balance, also below what is held; the service decides."""
    charge = make_held_charge()
    account = charge.account
    account.update_balance(Decimal(renewed), timezone.now())
    assert account.available_balance() == renewed - 106
    upstream.respond(*RENDER, charged_response({"id": 7}, 92, remaining=renewed - 92))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    account.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 92)
    assert (account.balance, account.held_credits()) == (renewed - 92, 0)
