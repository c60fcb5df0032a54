"""What a call teaches is noted beside its answer, which counts though the database is away."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from django.db import OperationalError, connection, transaction

from proxyapi import calls, rate_limiter, redis_client, tokens
from proxyapi.models import Account, ApiCall, Token, TokenState
from proxyapi.operations import get_operation
from proxyapi.rate_limiter import Permit, Priority
from proxyapi.upstream import errors
from tests.factories import TokenFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
)

pytestmark = pytest.mark.django_db(transaction=True)
ME = ("GET", "/me")


@pytest.fixture
def token(db: None) -> Token:
    token: Token = TokenFactory.create(account__balance=100)
    return token


def away(*_: Any, **__: Any) -> None:
    raise OperationalError("the connection is lost")


@pytest.fixture
def failing_bookkeeping(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a call teaches reaches the database."""
    for model, name in ((Account, "update_balance"), (ApiCall, "save")):
        monkeypatch.setattr(model, name, away)
    monkeypatch.setattr(calls, "change_token_state", away)


def test_an_answer_is_given_though_nothing_of_it_can_be_noted(
    failing_bookkeeping: None, token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, charged_response({"id": 5}, 0))
    assert calls.call_upstream(token, "me.get", Priority.PERSON).data == {"id": 5}


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (error_response(401, "GEN-UNAUTHORIZED"), errors.Unauthorized),
        (error_response(404, "GEN-NOT-FOUND"), errors.NotFound),
        (httpx.ReadTimeout, errors.ResponseLost),
    ],
)
def test_an_error_is_raised_as_it_is_even_if_it_cannot_be_recorded(
    trouble: Any,
    error: type[Exception],
    failing_bookkeeping: None,
    token: Token,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond(*ME, trouble)
    with pytest.raises(error):
        calls.call_upstream(token, "me.get", Priority.PERSON)


@pytest.mark.parametrize("lost", ["update_balance", "save"])
def test_what_can_be_noted_is(
    lost: str, token: Token, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.respond(*ME, charged_response({"id": 5}, 0, remaining=77))
    monkeypatch.setattr(Account if lost == "update_balance" else ApiCall, lost, away)
    calls.call_upstream(token, "me.get", Priority.PERSON)
    is_balance_known = Account.objects.get().balance == 77
    assert is_balance_known == (lost == "save")
    assert ApiCall.objects.exists() == (lost == "update_balance")


def test_a_refused_token_is_known_though_the_call_is_not_recorded(
    token: Token, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ApiCall, "save", away)
    upstream.respond(*ME, error_response(401, "GEN-UNAUTHORIZED"))
    with pytest.raises(errors.Unauthorized):
        calls.call_upstream(token, "me.get", Priority.PERSON)
    token.refresh_from_db()
    assert token.state == TokenState.REVOKED


def test_in_a_transaction_a_database_error_is_raised(
    failing_bookkeeping: None, token: Token, upstream: ScriptedUpstream
) -> None:
    """What was written in it before is gone with it."""
    upstream.respond(*ME, charged_response({"id": 5}, 0))
    with pytest.raises(OperationalError), transaction.atomic():
        calls.call_upstream(token, "me.get", Priority.PERSON)


def test_rule_5_a_request_that_was_held_up_counts_from_when_it_left(
    token: Token, upstream: ScriptedUpstream
) -> None:
    """Between its turn and its sending may be a lock of the database, or its own large file."""
    upstream.respond(*ME, charged_response({"id": 5}, 0))
    grant, store = calls.acquire_permit(token, Priority.PERSON), redis_client.connect_redis()
    log, now = f"rate-limit:{token.bucket}:log", time.time() * 1000
    store.zadd(log, {str(grant.log_number): now - 20_000})
    calls.send_request(token, "me.get", grant)
    assert store.zscore(log, str(grant.log_number)) == now - 20_000
    calls.send_request(token, "me.get", replace(grant, requested_at_s=grant.requested_at_s - 20))
    assert (store.zscore(log, str(grant.log_number)) or 0) >= now


def test_without_redis_an_answer_to_what_was_held_up_counts_all_the_same(
    token: Token, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    upstream.respond(*ME, charged_response({"id": 5}, 0))
    away = redis.Redis.from_url(f"unix://{tmp_path}/nobody.sock")
    monkeypatch.setattr(redis_client, "connect_redis", lambda: away)
    assert calls.send_request(token, "me.get", Permit(True, 0, requested_at_s=0)).data == {"id": 5}


def test_pitfall_29_the_balance_comes_with_an_answer_and_nobody_asks_for_it(
    token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", charged_response({"id": 7}, 0, remaining=77))
    calls.call_upstream(token, "faceless.get", Priority.PERSON, path={"id": 7})
    assert Account.objects.get().balance == 77
    assert [request.url.path for request in upstream.requests] == ["/v2/faceless/7"]


def test_pitfall_29_profile_costs_and_options_are_read_once_for_whoever_wants_them(
    token: Token, upstream: ScriptedUpstream
) -> None:
    paid = {"exists": True, "active": True, "trial": False, "plan": "Studio"}
    me = {"id": token.account.upstream_id, "subscription": paid, "credits": {"remaining": 77}}
    told = {"/me": me, "/credits/costs": {"IDEA": {"credits": 1}}, "/faceless/options": {"a": []}}
    told |= {"/text-to-video/models": {}}
    for path, data in told.items():
        upstream.respond("GET", path, make_response(data))
    for _ in range(3):
        tokens.refresh_account_profile(Account.objects.get())
    assert [request.url.path for request in upstream.requests] == [f"/v2{path}" for path in told]
    account = Account.objects.get()
    assert (account.costs, account.options) == (told["/credits/costs"], told["/faceless/options"])


def moved_elsewhere(token: Token) -> None:
    Account.objects.update(environment="https://production.example/v2")


def damaged(token: Token) -> None:
    Token.objects.update(ciphertext=b"not ours")


@pytest.mark.parametrize("become_unusable", [moved_elsewhere, damaged])
def test_a_token_that_cannot_be_sent_uses_no_permit(become_unusable: Any, token: Token) -> None:
    become_unusable(token)
    store = redis_client.connect_redis()
    before = rate_limiter.available(store, token.bucket, Priority.PERSON)
    with pytest.raises(calls.TokenUnusable):
        calls.acquire_permit(Token.objects.get(), Priority.PERSON)
    assert rate_limiter.available(store, token.bucket, Priority.PERSON) == before
    calls.acquire_permit(token, Priority.PERSON)
    assert rate_limiter.available(store, token.bucket, Priority.PERSON) == before - 1


def test_a_call_is_recorded_with_the_priority_of_its_permit(
    token: Token, upstream: ScriptedUpstream
) -> None:
    for priority in (Priority.PERSON, Priority.POLLING):
        upstream.respond(*ME, charged_response({"id": 5}, 0))
        calls.call_upstream(token, "me.get", priority)
    recorded = ApiCall.objects.order_by("pk").values_list("priority", flat=True)
    assert list(recorded) == [Priority.PERSON, Priority.POLLING]


@pytest.mark.parametrize(("name", "is_closed"), [("me.get", False), ("text_to_video.create", True)])
def test_a_call_that_charges_holds_no_connection_while_it_waits(
    name: str, is_closed: bool, token: Token, upstream: ScriptedUpstream,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    closed: list[str] = []
    monkeypatch.setattr(connection, "close", lambda: closed.append(name))
    seen: list[bool] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(bool(closed))
        return make_response({})

    row = get_operation(name)
    upstream.respond(row.method, row.path, answer)
    calls.send_request(token, name, Permit(True, 0), json={} if row.method == "POST" else None)
    assert seen == [is_closed]
