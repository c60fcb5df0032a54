"""An answer that came whole is not unknown because a field is missing in it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.operations import get_operation
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

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
