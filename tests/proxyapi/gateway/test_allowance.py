"""What an agent may spend: an allowance in all, an amount at once, and the budget of its label."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal

import httpx

from dashboard.budgets.actions import approve_request
from dashboard.models import ApprovalRequest, BudgetPeriod, Label, Membership
from proxyapi.models import ApiKey, Charge, ChargeState
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.gateway.quoting import RENDER, ask, sent, using
from tests.proxyapi.gateway.test_charging_requests import wait_until_sent
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)


def add_drafts(upstream: ScriptedUpstream, count: int) -> None:
    """Drafts of the service, whose scripts cost 4 credits."""
    for number in range(count):
        record = {"id": number, "script": "", "video": {"status": "draft"}}
        upstream.respond("GET", f"/faceless/{number}", make_response(record))
        done = charged_response({"id": number, "script": "Tea."}, 4)
        upstream.respond("PUT", f"/faceless/{number}/scripts", done)


def write_scripts(script: Script, count: int) -> list[httpx.Response]:
    async def ask_all() -> list[httpx.Response]:
        sends = (script.send("PUT", f"/faceless/{n}/scripts", json={"a": n}) for n in range(count))
        return list(await asyncio.gather(*sends))

    return script.loop.run(ask_all())


def test_parallel_calls_never_exceed_the_allowance(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(allowance=20)
    add_drafts(upstream, 50)
    answers = write_scripts(script, 50)
    refused = [answer for answer in answers if answer.status_code == 402]
    assert len(refused) == 45, [answer.text for answer in answers]
    assert len([request for request in upstream.requests if request.method == "PUT"]) == 5
    assert sum(charge.hold for charge in Charge.objects.all()) == 20
    error = refused[0].json()["error"]
    assert (error["code"], Decimal(error["available"])) == ("ALLOWANCE-USED-UP", 0)
    assert error["raise_url"].endswith("/agents/")
    assert not ApprovalRequest.objects.exists()
    ApiKey.objects.update(allowance=24)
    free = next(n for n, answer in enumerate(answers) if answer.status_code == 402)
    script.call("PUT", f"/faceless/{free}/scripts", json={"a": free})
    assert len([request for request in upstream.requests if request.method == "PUT"]) == 6


def test_what_was_not_spent_returns(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(allowance=11)
    upstream.respond(*RENDER, error_response(422, "GEN-WRONG-ARGS"))
    answer = script.call(*RENDER)
    assert answer.status_code == 422, answer.text
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    assert script.call(*RENDER).json()["data"] == {"id": 7}
    quote = ask(script, "PUT", "/faceless/7/scripts", {"topic": "tea"})
    assert (quote["credits_left"], quote["approval_required"]) == ("-3", False)


def test_one_charge_above_the_amount_asks_a_person(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, thea: Membership
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 10))
    script = make_script(allowance=50, charge_limit=5)
    quote = ask(script, *RENDER)
    assert (quote["credits_left"], quote["approval_required"]) == ("39", True)
    answer = script.call(*RENDER, headers=using(quote))
    told = answer.json()["data"]
    assert (answer.status_code, told["state"]) == (202, "approval_required")
    approve_request(by=thea, approval=ApprovalRequest.objects.get())
    assert wait_until_sent(script, told["charge"])["state"] == "confirmed"


def test_a_used_up_allowance_asks_nobody_even_above_the_amount_at_once(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(allowance=8, charge_limit=5)
    answer = script.call(*RENDER)
    assert answer.json()["error"]["code"] == "ALLOWANCE-USED-UP"
    assert sent(upstream, *RENDER) == Charge.objects.count() == 0


def test_what_it_makes_has_its_label_and_the_budget_of_the_label_holds(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, priya: Membership
) -> None:
    label = Label.objects.create(team=priya.team, name="Acme", created_by=priya.user)
    priya.team.budgets.create(label=label, period=BudgetPeriod.DAY, hard=Decimal(9))
    script = make_script(job_label="ACME")
    add_drafts(upstream, 3)
    quote = ask(script, "PUT", "/faceless/0/scripts", {"a": 0})
    assert quote["credits_left"] == "5"
    answers = write_scripts(script, 3)
    assert sorted(answer.status_code for answer in answers) == [202, 202, 402]
    charges = Charge.objects.filter(state=ChargeState.CONFIRMED)
    assert [charge.job.labels.get() for charge in charges if charge.job] == [label, label]


def test_a_label_that_was_deleted_is_made_again(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    add_drafts(upstream, 1)
    write_scripts(make_script(job_label="Acme"), 1)
    assert Charge.objects.get().state == ChargeState.CONFIRMED
    assert Label.objects.get().name == "Acme"
