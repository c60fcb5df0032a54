"""What a call teaches is noted beside its answer, which counts though the database is away."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.db import OperationalError, transaction

from proxyapi import calls, tokens
from proxyapi.models import Account, Call, Token, TokenState
from proxyapi.upstream import errors
from tests.factories import TokenFactory
from tests.proxyapi.upstream_script import Upstream, answer, charged, refused

pytestmark = pytest.mark.django_db(transaction=True)
ME = ("GET", "/me")


@pytest.fixture
def token(db: None) -> Token:
    token: Token = TokenFactory.create()
    return token


def away(*_: Any, **__: Any) -> None:
    raise OperationalError("the connection is lost")


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a call teaches reaches the database."""
    for model, name in ((Account, "note_balance"), (Call, "save")):
        monkeypatch.setattr(model, name, away)
    monkeypatch.setattr(calls, "change_state", away)


def test_an_answer_is_given_though_nothing_of_it_can_be_noted(
    broken: None, token: Token, upstream: Upstream
) -> None:
    upstream.on(*ME, charged({"id": 5}, 0))
    assert calls.send(token, "me.get").data == {"id": 5}


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (refused(401, "GEN-UNAUTHORIZED"), errors.Unauthorized),
        (refused(404, "GEN-NOT-FOUND"), errors.NotFound),
        (httpx.ReadTimeout, errors.AnswerLost),
    ],
)
def test_what_went_wrong_is_told_as_it_is_though_nothing_of_it_can_be_noted(
    trouble: Any, error: type[Exception], broken: None, token: Token, upstream: Upstream
) -> None:
    upstream.on(*ME, trouble)
    with pytest.raises(error):
        calls.send(token, "me.get")


@pytest.mark.parametrize("lost", ["note_balance", "save"])
def test_what_can_be_noted_is(
    lost: str, token: Token, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.on(*ME, charged({"id": 5}, 0, remaining=77))
    monkeypatch.setattr(Account if lost == "note_balance" else Call, lost, away)
    calls.send(token, "me.get")
    is_balance_known = Account.objects.get().balance == 77
    assert (is_balance_known, Call.objects.exists()) == (lost == "save", lost == "note_balance")


def test_a_refused_token_is_known_though_the_call_is_not_recorded(
    token: Token, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Call, "save", away)
    upstream.on(*ME, refused(401, "GEN-UNAUTHORIZED"))
    with pytest.raises(errors.Unauthorized):
        calls.send(token, "me.get")
    token.refresh_from_db()
    assert token.state == TokenState.REVOKED


def test_in_a_transaction_the_trouble_of_the_database_is_told(
    broken: None, token: Token, upstream: Upstream
) -> None:
    """What was written in it before is gone with it."""
    upstream.on(*ME, charged({"id": 5}, 0))
    with pytest.raises(OperationalError), transaction.atomic():
        calls.send(token, "me.get")


def test_pitfall_29_the_balance_comes_with_an_answer_and_nobody_asks_for_it(
    token: Token, upstream: Upstream
) -> None:
    upstream.on("GET", "/faceless/7", charged({"id": 7}, 0, remaining=77))
    calls.send(token, "faceless.get", path={"id": 7})
    assert Account.objects.get().balance == 77
    assert [request.url.path for request in upstream.requests] == ["/v2/faceless/7"]


def test_pitfall_29_profile_costs_and_options_are_read_once_for_whoever_wants_them(
    token: Token, upstream: Upstream
) -> None:
    paid = {"exists": True, "active": True, "trial": False, "plan": "Studio"}
    me = {"id": token.account.upstream_id, "subscription": paid, "credits": {"remaining": 77}}
    told = {"/me": me, "/credits/costs": {"IDEA": {"credits": 1}}, "/faceless/options": {"a": []}}
    for path, data in told.items():
        upstream.on("GET", path, answer(data))
    for _ in range(3):
        tokens.refresh(Account.objects.get())
    assert [request.url.path for request in upstream.requests] == [f"/v2{path}" for path in told]
    account = Account.objects.get()
    assert (account.costs, account.options) == (told["/credits/costs"], told["/faceless/options"])
