"""What may not be quoted, and what a quote may not be spent on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from dashboard.api_keys.actions import pause_key
from dashboard.models import BudgetPeriod, Membership
from proxyapi.gateway import keys
from proxyapi.models import (
    Account,
    ApiKey,
    Charge,
    KeyScope,
    Quote,
)
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.gateway.quoting import CLIP, RENDER, SCRIPTS, ask, refused, sent, show, using
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.usefixtures("rendered")


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


def test_a_quote_is_for_the_account_that_its_key_runs_on(
    script: Script, upstream: ScriptedUpstream, priya: Membership
) -> None:
    open_quote, spent_quote = ask(script, *SCRIPTS, {}), ask(script, *SCRIPTS, {})
    first = script.call(*SCRIPTS, json={}, headers=using(spent_quote))
    other = AccountFactory(tenant=priya.team.tenant, balance=Decimal(1000))
    ApiKey.objects.update(token=TokenFactory(account=other, owner=priya.user))
    answer = script.call(*SCRIPTS, json={}, headers=using(open_quote))
    assert refused(answer) == (422, "QUOTE-OF-OTHER-REQUEST")
    assert script.call(*SCRIPTS, json={}, headers=using(spent_quote)).content == first.content
    assert Charge.objects.count() == 1


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


@pytest.mark.parametrize(
    "value", ["", "quote_", "quote_é", f"quote_{UUID(int=4)}", "a" * 5000, "{}, {}"]
)
def test_what_is_no_quote_is_refused_and_not_ignored(
    script: Script, upstream: ScriptedUpstream, value: str
) -> None:
    quote = ask(script, *SCRIPTS, {})["quote"]
    header = {"Reelroom-Quote": value.format(quote, quote).encode()}
    answer = script.call(*SCRIPTS, json={}, headers=header)
    assert refused(answer) == (422, "QUOTE-UNKNOWN")
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


@pytest.mark.parametrize(
    ("depth", "status"), [(98, 201), (100, 400), (500, 400), (960, 400), (100_000, 400)]
)
def test_a_body_of_more_than_a_hundred_levels_is_refused(
    script: Script, upstream: ScriptedUpstream, depth: int, status: int
) -> None:
    body = f'{{"a": {"[" * depth}{"]" * depth}}}'
    header = {"Content-Type": "application/json"}
    charged = script.call(*SCRIPTS, content=body, headers=header)
    assert charged.status_code == (202 if status == 201 else 400)
    assert Charge.objects.count() == sent(upstream, *SCRIPTS) == (status == 201)
    wanted = f'{{"method": "PUT", "path": "/faceless/7/scripts", "body": {body}}}'
    assert script.call("POST", "/_quotes", content=wanted, headers=header).status_code == status
