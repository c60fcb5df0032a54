"""A second sending: only after the evidence of the first was read, and shows nothing (rule 2)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.models import Charge, ChargeState
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
    rate_limited_response,
)

Held = Callable[..., Charge]
RENDER, VIDEO = ("POST", "/faceless/7/render"), ("GET", "/faceless/7")
LEDGER = ("GET", "/credits/history")
BARE_429 = httpx.Response(429, json={"message": "slow"})


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxyapi.rate_limiter.pause_bucket", lambda *_: None)


def debit(amount: str) -> dict[str, str]:
    now = timezone.now().isoformat()
    return {"credit_spend": amount, "created_at": now, "transaction_type": "Debit"}


def work(charge: Charge) -> Charge:
    """What workers do with the charge when it is due, twice; each reads late enough."""
    for _ in range(2):
        Charge.objects.filter(pk=charge.pk, state=ChargeState.UNKNOWN).update(
            lost_at=timezone.now() - timedelta(seconds=31)
        )
        reconcile_charge(charge.pk)
        dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_a_429_is_sent_again_once_neither_video_nor_ledger_shows_it(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, rate_limited_response(9, 2), charged_response({"id": 7}, 92))
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    first = charge.sent_at, charge.before
    assert (charge.state, charge.account.held_credits()) == (ChargeState.UNKNOWN, 106)
    assert "is checked that this request was not charged" in charge.reason
    work(charge)
    assert (charge.state, charge.cost, charge.attempts) == (ChargeState.CONFIRMED, 92, 2)
    assert (charge.first_sent_at, charge.before) == first
    assert len(upstream.request_bodies(*RENDER)) == 2


@pytest.mark.parametrize(
    ("answer", "video", "rows", "state"),
    [
        (rate_limited_response(9, 2), "rendering", ("-96",), ChargeState.MATCHED),
        (rate_limited_response(9, 2), "rendering", (), ChargeState.UNKNOWN),
        (rate_limited_response(9, 2), "draft", ("-96",), ChargeState.UNKNOWN),
        (rate_limited_response(9, None), "draft", (), ChargeState.REFUSED),
        (BARE_429, "rendering", ("-96",), ChargeState.MATCHED),
        (httpx.Response(429, html="slow", headers={"Retry-After": "2"}), "draft", (), "refused"),
        (httpx.Response(503, headers={"Retry-After": "2"}), "draft", (), ChargeState.REFUSED),
    ],
)
def test_nothing_is_sent_twice_if_the_first_may_have_been_carried_out(
    answer: httpx.Response,
    video: str,
    rows: tuple[str, ...],
    state: str,
    make_held_charge: Held,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond(*RENDER, answer)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    upstream.respond(*VIDEO, make_response(video_response(video)))
    upstream.respond(*LEDGER, history_page(*map(debit, rows)))
    assert work(charge).state == state
    assert len(upstream.request_bodies(*RENDER)) == 1


def test_a_ledger_that_cannot_be_read_lets_nothing_be_sent_again(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, rate_limited_response(9, 2))
    upstream.respond(*LEDGER, httpx.Response(503))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    assert work(charge).state == ChargeState.UNKNOWN
    assert len(upstream.request_bodies(*RENDER)) == 1


def test_evidence_that_comes_just_before_the_second_sending_stops_it(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, rate_limited_response(9, 2))
    upstream.respond(*LEDGER, history_page())
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    Charge.objects.update(lost_at=timezone.now() - timedelta(seconds=31))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    upstream.respond(*VIDEO, make_response(video_response("rendering")))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert len(upstream.request_bodies(*RENDER)) == 1


def test_without_a_connection_the_charge_is_as_if_it_was_never_sent(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, httpx.ConnectError)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.sent_at, charge.attempts) == (ChargeState.HELD, None, 1)


@pytest.mark.parametrize(("is_refused", "state"), [(False, "unknown"), (True, "refused")])
def test_a_401_is_believed_if_a_free_read_gets_one_too(
    is_refused: bool, state: str, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    error: dict[str, Any] = {"message": "No.", "error": {"code": "GEN-UNAUTHORIZED"}}
    refusal = httpx.Response(401, json=error)
    upstream.respond(*RENDER, refusal)
    upstream.respond("GET", "/me", refusal if is_refused else make_response({}))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == state
    assert ("Nothing was charged" in charge.reason) is is_refused
    assert charge.token.state == ("revoked" if is_refused else "working")
