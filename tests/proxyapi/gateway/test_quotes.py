"""A quote is what is spent: one request, once, not above its price, and then the truth about it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import httpx
import pytest
from django.db import connection
from django.utils import timezone

from dashboard.api_requests.rows import Spent, method_of, spent_on
from dashboard.budgets.actions import approve_request, decline_request
from dashboard.models import ApprovalRequest, BudgetPeriod, Membership, Team
from dashboard.tasks import prune_gateway_requests
from proxyapi.gateway.call import Call
from proxyapi.gateway.charging import admit
from proxyapi.gateway.document import DOCUMENT_PATH
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.team_rules import AdmittedCharge
from proxyapi.gateway.threads import in_thread
from proxyapi.models import (
    Charge,
    ChargeState,
    GatewayRequest,
    Job,
    KeyScope,
    Quote,
    StoredAnswer,
    Token,
)
from proxyapi.operations import get_operation
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.gateway.quoting import CLIP, RENDER, SCRIPTS, ask, refused, sent, show, using
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.usefixtures("rendered")
CROWD = 20


def test_a_quote_holds_nothing_and_says_what_it_is(
    make_script: Callable[..., Script], upstream: ScriptedUpstream, priya: Membership
) -> None:
    priya.team.budgets.create(member=priya.user, period=BudgetPeriod.DAY, hard=Decimal(50))
    script = make_script(monthly_limit=30)
    render = ask(script, *RENDER)
    assert (render["state"], render["price"], render["exact"]) == ("open", "10", False)
    assert (render["upper_bound"], render["credits_left"], render["balance_left"]) == (
        *("11", "19"),
        "989",
    )
    assert render["approval_required"] is False
    exact = ask(make_script(scopes=[KeyScope.RENDER]), *SCRIPTS, {"topic": "tea"})
    assert (exact["price"], exact["upper_bound"], exact["exact"]) == ("4", "4", True)
    assert (exact["credits_left"], exact["balance_left"]) == ("46", None)
    assert show(script, render) == render
    shapes = json.loads(DOCUMENT_PATH.read_bytes())["components"]["schemas"]
    assert set(shapes["Quote"]["properties"]["data"]["required"]) == set(render)
    assert sent(upstream, *RENDER) == Charge.objects.count() == Job.objects.count() == 0
    rows = GatewayRequest.objects.order_by("received_at")
    paths = ["/_quotes", "/_quotes", f"/_quotes/{render['quote']}"]
    assert list(rows.values_list("path", flat=True)) == paths
    assert [row.service_requests for row in rows] == [1, 0, 0]
    assert [method_of(row) for row in rows] == ["POST", "POST", "GET"]
    assert {spent_on(row)[0] for row in rows} == {Spent.FREE}
    left = Quote.objects.latest("expires_at").expires_at - timezone.now()
    assert timedelta(minutes=10) < left <= timedelta(minutes=15)


def test_a_quote_says_whether_a_person_would_have_to_approve_it(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    Team.objects.update(second_person_above=11)
    assert ask(script, *RENDER)["approval_required"] is False
    Team.objects.update(second_person_above=10)
    above = ask(script, *RENDER)
    assert (above["approval_required"], above["credits_left"]) == (True, None)
    priya.team.budgets.create(member=priya.user, period=BudgetPeriod.DAY, hard=Decimal(8))
    over = ask(script, *RENDER)  # a hard budget refuses it, and asks nobody
    assert (over["approval_required"], over["credits_left"]) == (False, "-3")


def test_a_price_that_nobody_knows_is_not_said_to_be_0(
    script: Script, upstream: ScriptedUpstream
) -> None:
    quote = ask(script, "POST", "/faceless/7/export", {})
    assert (quote["price"], quote["upper_bound"], quote["exact"]) == (None, None, False)


def test_a_quote_is_spent_once_and_then_tells_its_charge(
    script: Script, upstream: ScriptedUpstream, rendered: httpx.Response
) -> None:
    quote = ask(script, *RENDER)
    first = script.call(*RENDER, headers=using(quote))
    again = script.call(*RENDER, headers=using(quote))
    assert first.content == again.content == rendered.content
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["reelroom-charge-id"] == first.headers["reelroom-charge-id"]
    assert sent(upstream, *RENDER) == Charge.objects.count() == 1
    told = show(script, quote)
    assert (told["state"], told["credits_left"]) == ("spent", None)
    assert told["charge"]["charge"] == first.headers["reelroom-charge-id"]
    assert (told["charge"]["state"], Decimal(told["charge"]["cost"])) == ("confirmed", 10)
    replayed = GatewayRequest.objects.get(is_replayed=True)
    assert (replayed.charge, replayed.service_requests) == (Charge.objects.get(), 0)


@pytest.mark.parametrize("operation", ["render", "clip"])
def test_of_fifty_callers_at_once_one_spends_it(
    script: Script, upstream: ScriptedUpstream, operation: str
) -> None:
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": 5}))
    asset = {"asset": {"id": 91, "status": "draft"}}
    upstream.respond("POST", "/text-to-video", charged_response(asset, 5))
    request, body = (RENDER, None) if operation == "render" else (("POST", "/text-to-video"), CLIP)
    quote = ask(script, *request, body)
    answers = script.at_once(50, *request, json=body, headers=using(quote))
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses[202] >= 1
    assert statuses[202] + statuses[409] + statuses[429] == 50, statuses
    codes = {refused(answer)[1] for answer in answers if answer.status_code == 409}
    assert codes <= {"QUOTE-IN-USE"}
    ids = {answer.headers.get("reelroom-charge-id") for answer in answers}
    assert ids - {None} == {str(Charge.objects.get().pk)}
    assert sent(upstream, *request) == Job.objects.count() == 1


def test_of_transactions_at_once_one_writes_the_charge(
    script: Script, upstream: ScriptedUpstream, worker: Worker, token: Token
) -> None:
    """As of several processes, which share no lock but those of the database."""
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": 5}))
    ask(script, "POST", "/text-to-video", CLIP)
    quote = Quote.objects.select_related("key").get()
    worker.is_busy = True
    call, operation = Call(script.key), get_operation(quote.operation)
    call.token = token
    start = Barrier(CROWD)

    def spend() -> AdmittedCharge:
        start.wait(120)
        try:
            return admit(call, ServiceRequest(operation, {}, {}, CLIP), Decimal(5), None, quote)
        finally:
            connection.close()

    with ThreadPoolExecutor(CROWD) as pool:
        admitted = [done.result() for done in [pool.submit(spend) for _ in range(CROWD)]]
    assert [row.is_new for row in admitted].count(True) == 1
    assert {row.charge for row in admitted} == {Charge.objects.get()}
    assert Job.objects.count() == StoredAnswer.objects.count() == 1


def test_while_its_charge_runs_the_answer_is_409(
    script: Script, upstream: ScriptedUpstream, worker: Worker
) -> None:
    quote = ask(script, *SCRIPTS, {})
    worker.is_busy = True

    async def repeat() -> httpx.Response:
        first = asyncio.create_task(script.send(*SCRIPTS, json={}, headers=using(quote)))
        while not await in_thread(Charge.objects.exists):
            await asyncio.sleep(0.02)
        again = await script.send(*SCRIPTS, json={}, headers=using(quote))
        first.cancel()
        return again

    answer = script.loop.run(repeat())
    assert refused(answer) == (409, "QUOTE-IN-USE")
    assert int(answer.headers["retry-after"]) >= 1
    charge = Charge.objects.get()
    assert answer.headers["reelroom-charge-id"] == str(charge.pk)
    worker.dispatch(charge.pk)
    assert script.call(*SCRIPTS, json={}, headers=using(quote)).json()["data"]["script"] == "Tea."


@pytest.mark.parametrize(
    "lost", [httpx.ReadTimeout, httpx.Response(500), httpx.Response(200, content=b"<html>")]
)
def test_after_a_lost_answer_the_quote_tells_the_truth(
    script: Script, upstream: ScriptedUpstream, lost: httpx.Response
) -> None:
    quote = ask(script, *RENDER)
    upstream.respond(*RENDER, lost)
    answers = [script.call(*RENDER, headers=using(quote)) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [202] * 3
    assert {answer.json()["data"]["state"] for answer in answers} == {"unknown"}
    assert sent(upstream, *RENDER) == Charge.objects.count() == 1
    Charge.objects.update(state=ChargeState.MATCHED, cost=10)
    assert show(script, quote)["charge"]["state"] == "matched"
    told = script.call(*RENDER, headers=using(quote)).json()["data"]
    assert (told["state"], Decimal(told["cost"])) == ("matched", 10)


@pytest.mark.parametrize("decision", ["approved", "declined"])
def test_above_a_limit_the_quote_belongs_to_the_charge_that_waits(
    make_script: Callable[..., Script],
    upstream: ScriptedUpstream,
    thea: Membership,
    rendered: httpx.Response,
    decision: str,
) -> None:
    script = make_script(daily_limit=5)
    quote = ask(script, *RENDER)
    assert (quote["approval_required"], quote["credits_left"]) == (True, "-6")
    told = [script.call(*RENDER, headers=using(quote)).json()["data"] for _ in range(2)]
    assert {row["state"] for row in told} == {"approval_required"}
    approval = ApprovalRequest.objects.get()
    assert show(script, quote)["charge"]["approval_url"].endswith(f"{approval.pk}/")
    if decision == "declined":
        decline_request(by=thea, approval=approval, reason="Too long")
        for _ in range(2):
            assert script.call(*RENDER, headers=using(quote)).status_code == 403
        assert show(script, quote)["charge"]["state"] == "refused"
        assert Charge.objects.count() == 1
        assert sent(upstream, *RENDER) == 0
        return
    approve_request(by=thea, approval=approval)
    answer = script.call(*RENDER, headers=using(quote))
    while answer.status_code == 409:
        script.loop.run(asyncio.sleep(0.05))
        answer = script.call(*RENDER, headers=using(quote))
    assert answer.content == rendered.content
    assert sent(upstream, *RENDER) == Charge.objects.count() == 1


def test_a_restored_database_that_forgot_the_charge_sends_nothing_again(
    script: Script, upstream: ScriptedUpstream
) -> None:
    asset = {"asset": {"id": 91, "status": "draft"}}
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": 5}))
    upstream.respond("POST", "/text-to-video", charged_response(asset, 5))
    quote = ask(script, "POST", "/text-to-video", CLIP)
    clip = script.call("POST", "/text-to-video", json=CLIP, headers=using(quote))
    Charge.objects.all().delete()
    Job.objects.all().delete()
    again = script.call("POST", "/text-to-video", json=CLIP, headers=using(quote))
    assert again.status_code == 403
    told = script.call("POST", "/text-to-video", json=CLIP, headers=using(quote)).json()["data"]
    assert (told["charge"], told["state"]) == (clip.headers["reelroom-charge-id"], "matched")
    assert (told["resource"], show(script, quote)["state"]) == ("91", "spent")
    assert sent(upstream, "POST", "/text-to-video") == 1


def test_with_an_idempotency_key_both_rules_hold(
    script: Script, upstream: ScriptedUpstream
) -> None:
    quotes = [ask(script, *SCRIPTS, {"topic": "tea"}) for _ in range(2)]

    def send(quote: int, key: str, topic: str = "tea") -> httpx.Response:
        header = using(quotes[quote], **{"Idempotency-Key": key})
        return script.call(*SCRIPTS, json={"topic": topic}, headers=header)

    assert "idempotent-replayed" not in send(0, "a").headers
    for quote, key in ((0, "a"), (1, "a"), (0, "b"), (0, "b")):
        assert send(quote, key).headers["idempotent-replayed"] == "true", (quote, key)
    assert refused(send(1, "a", "gin")) == (422, "IDEMPOTENCY-KEY-REUSED")
    assert refused(send(0, "c", "gin")) == (422, "QUOTE-OF-OTHER-REQUEST")
    assert show(script, quotes[1])["state"] == "open"
    assert list(StoredAnswer.objects.values_list("idempotency_key", flat=True)) == ["a"]
    assert sent(upstream, *SCRIPTS) == Charge.objects.count() == 1


def test_a_charge_whose_turn_does_not_come_leaves_the_quote_open(
    script: Script, upstream: ScriptedUpstream, worker: Worker
) -> None:
    quote = ask(script, *SCRIPTS, {})
    worker.is_busy = True
    answer = script.call(*SCRIPTS, json={}, headers=using(quote, Prefer="wait=0"))
    assert refused(answer) == (429, "RATE-LIMITED")
    assert show(script, quote)["state"] == "open"
    worker.is_busy = False
    assert script.call(*SCRIPTS, json={}, headers=using(quote)).status_code == 202
    assert sent(upstream, *SCRIPTS) == 1


def test_a_refusal_of_the_service_is_the_truth_too(
    script: Script, upstream: ScriptedUpstream
) -> None:
    quote = ask(script, *RENDER)
    upstream.respond(*RENDER, refusal := error_response(403, "FEATURE-NOT-ALLOWED"))
    answers = [script.call(*RENDER, headers=using(quote)) for _ in range(2)]
    assert {answer.content for answer in answers} == {refusal.content}
    assert sent(upstream, *RENDER) == 1


def test_quotes_are_kept_for_two_days_after_their_end(
    script: Script, upstream: ScriptedUpstream
) -> None:
    now = timezone.now()
    for hours in (49, 47):
        quote = ask(script, *SCRIPTS, {"hours": hours})
        rows = Quote.objects.filter(pk=quote["quote"].removeprefix("quote_"))
        rows.update(expires_at=now - timedelta(hours=hours))
    prune_gateway_requests()
    assert f"quote_{Quote.objects.get().pk.hex}" == quote["quote"]
