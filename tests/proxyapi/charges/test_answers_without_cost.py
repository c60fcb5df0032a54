"""An answer that came whole is not unknown because a field is missing in it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.charges.transitions import PRICE_DIFFERS
from proxyapi.models import Account, Charge, ChargeState, Draft, Job
from proxyapi.operations import get_operation
from tests.admission import admit_charge
from tests.factories import ChargeFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.charges.test_reconcile import LEDGER, debit
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    history_page,
    make_response,
)

Held = Callable[..., Charge]


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_what_is_free_was_done_for_nothing(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge("ai_visuals.upload", hold=0, quote=Decimal(0))
    upstream.respond("POST", "/ai-visuals/7/assets/upload", make_response({"id": 61}, 201))
    assert (sent(charge).state, charge.cost) == (ChargeState.CONFIRMED, 0)
    assert charge.applied_at is not None


def test_an_exact_price_is_what_it_cost(make_held_charge: Held, upstream: ScriptedUpstream) -> None:
    charge = make_held_charge("faceless.scripts", hold=4, quote=Decimal(4))
    answer = make_response(video_response("draft", script="Snow."))
    upstream.respond("PUT", "/faceless/7/scripts", answer)
    assert (sent(charge).state, charge.cost) == (ChargeState.CONFIRMED, 4)
    assert Draft.objects.get().settings["script"] == "Snow."


def test_an_approximate_price_waits_for_the_ledger_and_the_video_renders(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/faceless/7/render", make_response({"id": 7}, 202))
    charge = sent(make_held_charge())
    job.refresh_from_db()
    assert (charge.state, charge.cost, job.state) == (ChargeState.UNKNOWN, None, "running")
    assert charge.applied_at is not None  # pages say that it was done and wait for its cost


@pytest.mark.parametrize("data", [None, [], {}])
def test_an_empty_success_proves_nothing(
    data: Any, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("PUT", "/faceless/7/scripts", make_response(data))
    charge = sent(make_held_charge("faceless.scripts", hold=4, quote=Decimal(4)))
    assert (charge.state, charge.applied_at) == (ChargeState.UNKNOWN, None)
    assert get_operation(charge.operation).writes_script


def test_the_record_of_another_video_is_no_answer(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    foreign = {**video_response("rendering"), "id": 8}
    upstream.respond("POST", "/faceless/7/render", charged_response(foreign, 92))
    charge = sent(make_held_charge())
    assert (charge.state, charge.code) == (ChargeState.UNKNOWN, "FOREIGN-RECORD")


@pytest.mark.parametrize(("reported", "booked"), [(0, "-20"), (150, "-100"), (0, None)])
def test_a_cost_that_the_price_does_not_explain_waits_for_the_ledger(
    reported: int, booked: str | None, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The work is done and goes on; of what was reported only a nothing is believed, if the ledger
    shows nothing, too."""
    hold = 15 if booked == "-20" else 106
    render = video_response("rendering")
    upstream.respond("POST", "/faceless/7/render", charged_response(render, reported))
    charge = sent(make_held_charge(hold=hold, quote=Decimal(hold)))
    job.refresh_from_db()
    assert (charge.state, charge.cost, job.state) == (ChargeState.UNKNOWN, None, "running")
    assert f"reported {reported} cr" in charge.reason
    upstream.respond("GET", "/faceless/7", make_response(render))
    upstream.respond(*LEDGER, history_page(*[debit(booked, 0)] if booked else []))
    Charge.objects.update(lost_at=timezone.now() - timedelta(seconds=31))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, -Decimal(booked or 0))
    assert (charge.code == PRICE_DIFFERS) == (reported == 0)


@pytest.mark.parametrize(("remaining", "balance"), [(3, 1000), (10**6, 1000), (900, 900)])
def test_a_balance_beside_an_answer_far_from_the_known_one_has_the_profile_read(
    remaining: int, balance: int, job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    Account.objects.update(balance_as_of=timezone.now(), refreshed_at=timezone.now())
    reply = charged_response(video_response("draft", script="Snow."), 4, remaining=remaining)
    upstream.respond("PUT", "/faceless/7/scripts", reply)
    sent(make_held_charge("faceless.scripts", hold=4, quote=Decimal(4)))
    account = Account.objects.get()
    is_believed = remaining == balance
    assert account.balance == (balance if is_believed else balance - 4)
    assert (account.refreshed_at is not None) == is_believed


def test_what_was_done_and_waits_for_its_cost_delays_no_other_request(job: Job) -> None:
    now = timezone.now()
    done = {"operation": "faceless.scripts", "state": ChargeState.UNKNOWN, "applied_at": now}
    ChargeFactory.create(job=job, sent_at=now, **done)
    intent = ChargeIntent(job, "faceless.render", uuid.uuid4(), Decimal(60), Decimal(50), {})
    assert admit_charge(intent).state == ChargeState.HELD
