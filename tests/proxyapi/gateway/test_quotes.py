"""A quote is what is spent: one request, once, not above its price, and then the truth about it."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.utils import timezone

from dashboard.api_keys.actions import pause_key
from dashboard.budgets.actions import approve_request, decline_request
from dashboard.models import ApprovalRequest, BudgetPeriod, Membership
from dashboard.tasks import prune_gateway_requests
from proxyapi.gateway import keys
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    GatewayRequest,
    Job,
    KeyScope,
    Quote,
    StoredAnswer,
)
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")
CLIP = {"model": "brook", "prompt": "a lighthouse in a storm at night"}


def ask(script: Script, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
    """What a quote for this request says."""
    answer = script.call(
        "POST", "/_quotes", json={"method": method, "path": path, "body": body, **more}
    )
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def show(script: Script, quote: dict[str, Any]) -> dict[str, Any]:
    return dict(script.call("GET", f"/_quotes/{quote['quote']}").json()["data"])


def using(quote: dict[str, Any], **headers: str) -> dict[str, str]:
    return {"Reelroom-Quote": quote["quote"], **headers}


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def sent(upstream: ScriptedUpstream, method: str, path: str) -> int:
    return len(upstream.request_bodies(method, path))


@pytest.fixture(autouse=True)
def rendered(upstream: ScriptedUpstream) -> httpx.Response:
    """What the service answers to a render and to a script."""
    upstream.respond(*SCRIPTS, charged_response({"id": 7, "script": "Tea."}, 4))
    upstream.respond(*RENDER, answer := charged_response({"id": 7}, 10))
    return answer


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
    assert sent(upstream, *RENDER) == Charge.objects.count() == Job.objects.count() == 0
    rows = GatewayRequest.objects.order_by("received_at")
    paths = ["/_quotes", "/_quotes", f"/_quotes/{render['quote']}"]
    assert list(rows.values_list("path", flat=True)) == paths
    assert [row.service_requests for row in rows] == [1, 0, 0]
    left = Quote.objects.latest("expires_at").expires_at - timezone.now()
    assert timedelta(minutes=10) < left <= timedelta(minutes=15)


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


def test_while_its_charge_runs_the_answer_is_409(
    script: Script, upstream: ScriptedUpstream, worker: Worker
) -> None:
    quote = ask(script, *SCRIPTS, {})
    worker.is_busy = True

    async def repeat() -> httpx.Response:
        first = asyncio.create_task(script.send(*SCRIPTS, json={}, headers=using(quote)))
        while not await asyncio.to_thread(charge_exists):
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


def charge_exists() -> bool:
    from django.db import connection

    try:
        return Charge.objects.exists()
    finally:
        connection.close()


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


def test_another_body_is_refused_with_a_quote_of_its_own(
    script: Script, upstream: ScriptedUpstream
) -> None:
    body = {"topic": "tea", "deep": [{"b": 1.5, "a": None}], "é": False}
    quote = ask(script, *SCRIPTS, body)
    for spent in (False, True):
        answer = script.call(*SCRIPTS, json={**body, "topic": "gin"}, headers=using(quote))
        assert refused(answer) == (422, "QUOTE-OF-OTHER-REQUEST")
        assert Charge.objects.count() == spent
        same = dict(reversed(body.items()))  # the order of the fields is not the body
        assert script.call(*SCRIPTS, json=same, headers=using(quote)).status_code == 202
    new = answer.json()["error"]["quote"]
    assert (new["state"], new["price"]) == ("open", "4")
    gin = script.call(*SCRIPTS, json={**body, "topic": "gin"}, headers=using(new))
    assert gin.status_code == 202
    assert sent(upstream, *SCRIPTS) == 2


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", "/faceless/8/scripts"), ("PUT", "/faceless/7/scripts?a=b")]
)
def test_another_path_or_query_is_another_request(
    script: Script, upstream: ScriptedUpstream, method: str, path: str
) -> None:
    quote = ask(script, *SCRIPTS, {})
    answer = script.call(method, path, json={}, headers=using(quote))
    assert refused(answer) == (422, "QUOTE-OF-OTHER-REQUEST")
    assert not Charge.objects.exists()
    assert ask(script, method, path)["state"] == "open"


def test_a_quote_for_another_operation_gets_one_for_this(
    script: Script, upstream: ScriptedUpstream
) -> None:
    answer = script.call(*SCRIPTS, json={}, headers=using(ask(script, *RENDER)))
    new = answer.json()["error"]["quote"]
    assert (new["operation"], new["price"]) == ("faceless.scripts", "4")


def test_the_files_of_a_form_belong_to_the_request(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/text-to-video/estimate", make_response({"credits": 5}))
    asset = {"asset": {"id": 91, "status": "draft"}}
    upstream.respond("POST", "/text-to-video", charged_response(asset, 5))
    listed = [{"field": "image", "sha256": hashlib.sha256(b"\x89PNG").hexdigest()}]
    quote = ask(script, "POST", "/text-to-video", CLIP, files=listed)
    for content, status in ((b"other", 422), (b"\x89PNG", 202)):
        files = {"image": ("frame.png", content, "image/png")}
        answer = script.call("POST", "/text-to-video", data=CLIP, files=files, headers=using(quote))
        assert answer.status_code == status, answer.text
    assert sent_forms(upstream) == 1


def sent_forms(upstream: ScriptedUpstream) -> int:
    return len([request for request in upstream.requests if request.method == "POST"])


@pytest.mark.parametrize(("now", "status"), [("10.5", 409), ("10", 202), ("7", 202)])
def test_a_price_above_the_quote_is_refused_and_one_below_it_counts(
    script: Script, upstream: ScriptedUpstream, now: str, status: int
) -> None:
    quote = ask(script, *RENDER)
    upstream.respond("GET", "/faceless/7/estimate", make_response({"cost": now}))
    answer = script.call(*RENDER, headers=using(quote))
    assert answer.status_code == status
    if status == 202:
        assert Charge.objects.get().quote == Decimal(now)
        return
    assert refused(answer) == (409, "QUOTE-PRICE-ROSE")
    assert not Charge.objects.exists()
    new = answer.json()["error"]["quote"]
    assert (new["price"], new["upper_bound"]) == ("10.5", "12")
    assert script.call(*RENDER, headers=using(new)).status_code == 202


def test_an_expired_quote_is_refused_unless_it_was_spent(
    script: Script, upstream: ScriptedUpstream
) -> None:
    quote = ask(script, *SCRIPTS, {})
    Quote.objects.update(expires_at=timezone.now())
    assert show(script, quote)["state"] == "expired"
    answer = script.call(*SCRIPTS, json={}, headers=using(quote))
    assert refused(answer) == (422, "QUOTE-EXPIRED")
    new = answer.json()["error"]["quote"]
    assert script.call(*SCRIPTS, json={}, headers=using(new)).status_code == 202
    Quote.objects.update(expires_at=timezone.now())
    assert script.call(*SCRIPTS, json={}, headers=using(new)).status_code == 202
    assert show(script, new)["state"] == "spent"
    assert sent(upstream, *SCRIPTS) == 1


@pytest.mark.parametrize("other", ["key", "person"])
def test_a_quote_of_another_key_does_not_exist(
    make_script: Callable[..., Script],
    script: Script,
    upstream: ScriptedUpstream,
    luca: Membership,
    other: str,
) -> None:
    quote = ask(script, *SCRIPTS, {})
    if other == "person":
        TokenFactory(account=AccountFactory(tenant=luca.team.tenant), owner=luca.user)
    stranger = make_script() if other == "key" else make_script(owner=luca)
    foreign = stranger.call(*SCRIPTS, json={}, headers=using(quote))
    unknown = stranger.call(*SCRIPTS, json={}, headers=using({"quote": f"quote_{uuid4().hex}"}))
    assert refused(foreign) == refused(unknown) == (422, "QUOTE-UNKNOWN")
    assert foreign.json()["message"] == unknown.json()["message"]
    assert stranger.call("GET", f"/_quotes/{quote['quote']}").status_code == 404
    assert not Charge.objects.exists()


@pytest.mark.parametrize("value", ["", "quote_", "quote_é", f"quote_{uuid4()}", "a" * 5000])
def test_what_is_no_quote_is_refused_and_not_ignored(
    script: Script, upstream: ScriptedUpstream, value: str
) -> None:
    answer = script.call(*SCRIPTS, json={}, headers={"Reelroom-Quote": value.encode()})
    assert refused(answer) == (422, "QUOTE-UNKNOWN")
    two = [("Reelroom-Quote", ask(script, *SCRIPTS, {})["quote"])] * 2
    answer = script.call(*SCRIPTS, json={}, headers=httpx.Headers(two))
    assert not Charge.objects.exists()


def test_a_budget_that_fell_between_refuses_and_the_quote_stays_open(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    quote = ask(script, *RENDER)
    assert quote["credits_left"] is None
    budget = priya.team.budgets.create(member=priya.user, period=BudgetPeriod.DAY, hard=Decimal(8))
    header = using(quote, **{"Idempotency-Key": "night"})
    assert refused(script.call(*RENDER, headers=header)) == (402, "BUDGET-EXCEEDED")
    assert (show(script, quote)["state"], show(script, quote)["credits_left"]) == ("open", "-3")
    budget.hard = 20
    budget.save()
    assert script.call(*RENDER, headers=header).status_code == 202
    Account.objects.update(balance=3)
    second = ask(script, *SCRIPTS, {})
    assert Decimal(second["balance_left"]) < 0
    answer = script.call(*SCRIPTS, json={}, headers=using(second))
    assert refused(answer)[0] in (402, 409)
    assert sent(upstream, *SCRIPTS) == 0


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


@pytest.mark.parametrize(("end", "code"), [("revoked", 401), ("paused", 403)])
def test_a_key_that_ended_spends_no_quote(
    script: Script, upstream: ScriptedUpstream, priya: Membership, end: str, code: int
) -> None:
    quote = ask(script, *SCRIPTS, {})
    if end == "revoked":
        keys.revoke_keys([script.key], timezone.now())
    else:
        pause_key(by=priya, key=script.key)
    assert script.call(*SCRIPTS, json={}, headers=using(quote)).status_code == code
    wanted = {"method": "PUT", "path": "/faceless/7/scripts"}
    assert script.call("POST", "/_quotes", json=wanted).status_code == code
    assert not Charge.objects.exists()


def test_a_quote_takes_the_scope_of_its_request(
    make_script: Callable[..., Script], upstream: ScriptedUpstream
) -> None:
    script = make_script(scopes=[KeyScope.READ, KeyScope.CREATE])
    wanted = {"method": "PUT", "path": "/faceless/7/scripts"}
    answer = script.call("POST", "/_quotes", json=wanted)
    assert refused(answer) == (403, "SCOPE-MISSING")


def test_the_service_refuses_to_price_what_does_not_exist(
    script: Script, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7/estimate", missing := error_response(404, "GEN-NOT-FOUND"))
    answer = script.call("POST", "/_quotes", json={"method": "POST", "path": RENDER[1]})
    assert (answer.status_code, answer.content) == (404, missing.content)
    assert not Quote.objects.exists()


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        {},
        {"method": "PUT"},
        {"method": 1, "path": "/faceless/7/scripts"},
        {"method": "GET", "path": "/faceless/7"},
        {"method": "POST", "path": "/faceless"},
        {"method": "PUT", "path": "/../faceless/7/scripts"},
        {"method": "PUT", "path": "/faceless/%2e/scripts"},
        {"method": "PUT", "path": "/faceless/\ud800/scripts"},
        {"method": "PUT", "path": "/faceless/7\n/scripts"},
        {"method": "PUT", "path": "/faceless/7/scripts", "body": [1]},
        {"method": "PUT", "path": "/faceless/7/scripts", "price": 1},
        {"method": "PUT", "path": "/faceless/7/scripts", "files": "a"},
    ],
)
def test_what_cannot_be_quoted_is_refused(
    script: Script, upstream: ScriptedUpstream, wanted: object
) -> None:
    body = b"" if wanted is None else json.dumps(wanted).encode()
    header = {"Content-Type": "application/json"}
    answer = script.call("POST", "/_quotes", content=body, headers=header)
    assert answer.status_code in (400, 404), answer.text
    assert answer.json()["error"]["request_id"]
    assert not Quote.objects.exists()


@pytest.mark.parametrize("depth", [10, 500, 100_000])
def test_a_body_of_any_depth_is_quoted_or_refused(
    script: Script, upstream: ScriptedUpstream, depth: int
) -> None:
    deep = "[" * depth + "]" * depth
    body = f'{{"method": "PUT", "path": "/faceless/7/scripts", "body": {{"a": {deep}}}}}'
    header = {"Content-Type": "application/json"}
    answer = script.call("POST", "/_quotes", content=body, headers=header)
    assert answer.status_code in (201, 400), answer.text


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
