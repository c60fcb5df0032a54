"""Tokens: checked, sealed, shared accounts; what is wrong with one is said without showing it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import calls, rate_limiter, redis_client, tasks, tokens
from proxyapi.credentials import token_vault
from proxyapi.credentials.encryption import DecryptionFailed
from proxyapi.models import Account, AccountPlan, Token, TokenState
from proxyapi.rate_limiter import Permit, Priority, RateLimitExhausted
from proxyapi.refusals import TokenRefused
from proxyapi.upstream.secret import Secret
from tests.factories import AccountFactory, TenantFactory, TokenFactory, UserFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    make_response,
    rate_limited_response,
)

ME = ("GET", "/me")


def profile(id: int = 5, **subscription: Any) -> httpx.Response:
    plan = {"exists": True, "active": True, "trial": False, "plan": "Studio", **subscription}
    credits = {"remaining": 800, "total": 1200, "extra": 250}
    return make_response(
        {"id": id, "email_verified": True, "credits": credits, "subscription": plan}
    )


def value(letter: str = "a") -> str:
    return "sbx_" + letter * 24


def test_a_token_is_sealed_and_opens_for_its_row_only(db: None, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, profile())
    tenant, user = TenantFactory(), UserFactory()
    token = tokens.store_token(tenant, user.pk, Secret(f"  {value()}\n"))
    other = tokens.store_token(tenant, user.pk, Secret(value("b")))
    assert value().encode() not in bytes(token.ciphertext)
    assert token_vault.decrypt_token(token).reveal() == value()
    other.ciphertext = token.ciphertext
    with pytest.raises(DecryptionFailed):
        token_vault.decrypt_token(other)


def test_one_token_in_two_teams_has_one_count(db: None, upstream: ScriptedUpstream) -> None:
    """Rule 5: the service counts by token, whoever stored it."""
    upstream.respond(*ME, profile(), profile())
    first, second = (
        tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value())) for _ in "ab"
    )
    other = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value("b")))
    assert first.tenant_id != second.tenant_id
    rate_limiter.pause_bucket(redis_client.connect_redis(), first.bucket, 60)
    with pytest.raises(RateLimitExhausted):
        calls.acquire_permit(second, Priority.PERSON)
    calls.acquire_permit(other, Priority.PERSON)


def test_a_token_that_is_added_again_goes_on_counting(db: None, upstream: ScriptedUpstream) -> None:
    """Rule 5: taken out and pasted anew within the minute, it has no more than it had."""
    upstream.respond(*ME, profile(), profile())
    tenant, user = TenantFactory(), UserFactory()
    gone = tokens.store_token(tenant, user.pk, Secret(value()))
    tokens.destroy_token(gone)
    rate_limiter.pause_bucket(redis_client.connect_redis(), gone.bucket, 60)
    with pytest.raises(TokenRefused, match="The rate limit of this token is used up"):
        tokens.store_token(tenant, user.pk, Secret(value()))
    assert len(upstream.requests) == 1


def test_a_token_that_is_refused_for_its_requests_waits_in_every_team(
    db: None, upstream: ScriptedUpstream
) -> None:
    """Rule 5: what the first question is told of the limit holds for who has it already."""
    upstream.respond(*ME, profile(), rate_limited_response(left=0, seconds=40))
    first = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    with pytest.raises(TokenRefused, match=r"Try again in 40 s\..*Nothing was stored"):
        tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    assert rate_limiter.bucket_pause_s(redis_client.connect_redis(), first.bucket) > 30


def test_two_tokens_of_one_account_share_its_row(db: None, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, profile())
    tenant = TenantFactory()
    first = tokens.store_token(tenant, UserFactory().pk, Secret(value("a")))
    second = tokens.store_token(tenant, UserFactory().pk, Secret(value("b")))
    assert first.account == second.account
    assert Account.objects.get().balance == 800


def test_the_same_token_twice_is_refused(db: None, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, profile())
    tenant = TenantFactory()
    tokens.store_token(tenant, UserFactory().pk, Secret(value()))
    with pytest.raises(TokenRefused, match="already"):
        tokens.store_token(tenant, UserFactory().pk, Secret(value()))


def test_a_token_that_two_add_at_once_is_refused_to_the_second(
    db: None, upstream: ScriptedUpstream
) -> None:
    tenant, first = TenantFactory(), UserFactory().pk

    def meanwhile(_: httpx.Request) -> httpx.Response:
        upstream.respond(*ME, profile())
        tokens.store_token(tenant, first, Secret(value()))
        return profile()

    upstream.respond(*ME, meanwhile)
    with pytest.raises(TokenRefused, match="already"):
        tokens.store_token(tenant, UserFactory().pk, Secret(value()))
    assert Token.objects.get().owner_id == first


def test_a_removed_token_is_not_used_by_who_has_it_in_hand(
    db: None, upstream: ScriptedUpstream
) -> None:
    token = TokenFactory()
    tokens.destroy_token(Token.objects.get(pk=token.pk))
    with pytest.raises(calls.TokenRemoved):
        calls.call_upstream(token, "me.get", Priority.PERSON)
    assert upstream.requests == []


@pytest.mark.parametrize("left", [{}, {"options_as_of": timezone.now()}])
def test_an_account_whose_voices_were_not_read_is_read_in_the_next_round(
    left: dict[str, Any], db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be made before: ten minutes after one failed answer were too long."""
    minute_ago = timezone.now() - timedelta(minutes=1)
    account = AccountFactory(plan=AccountPlan.PAID, refreshed_at=minute_ago, **left)
    rung: list[str] = []
    monkeypatch.setattr(tasks.refresh_account_task, "delay", rung.append)
    tasks.refresh_due_accounts()
    assert rung == ([] if left else [str(account.pk)])


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "x" * 10_000, "tök€n", "two words"])
def test_a_malformed_token_never_leaves_and_is_never_echoed(
    text: str, db: None, upstream: ScriptedUpstream
) -> None:
    with pytest.raises(TokenRefused) as refusal:
        tokens.store_token(TenantFactory(), UserFactory().pk, Secret(text))
    assert upstream.requests == []
    assert not text.strip() or text.strip() not in refusal.value.sentence


@pytest.mark.parametrize(
    "trouble",
    [
        error_response(401, "GEN-UNAUTHORIZED"),
        httpx.ConnectError,
        httpx.Response(200, html="<p>hi</p>"),
    ],
)
def test_a_token_that_cannot_be_checked_is_not_stored(
    trouble: Any, db: None, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, trouble)
    with pytest.raises(TokenRefused) as refusal:
        tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    assert value() not in refusal.value.sentence
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("subscription", "plan"),
    [({"trial": True}, AccountPlan.TRIAL), ({"active": False}, AccountPlan.NONE)],
)
def test_pitfall_86_a_plan_that_may_not_render_pauses_the_token(
    subscription: dict[str, bool], plan: AccountPlan, db: None, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, profile(**subscription))
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    assert token.state == TokenState.PAUSED
    assert token.account.plan == plan


def test_a_paused_token_resumes_by_itself(db: None, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, profile(trial=True), profile())
    upstream.respond(
        "GET", "/credits/costs", make_response({"CONTENT_PROMPT_REQUESTED": {"credits": 4}})
    )
    upstream.respond("GET", "/faceless/options", make_response({"mandatory": {}, "optional": {}}))
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    tokens.refresh_account_profile(token.account)
    token.refresh_from_db()
    assert token.state == TokenState.WORKING
    assert Account.objects.get().costs == {"CONTENT_PROMPT_REQUESTED": {"credits": 4}}


@pytest.mark.parametrize("options", [{}, {"mandatory": {}}])
def test_costs_and_voices_are_read_while_polls_fill_the_minute(
    options: Any, db: None, upstream: ScriptedUpstream
) -> None:
    """Behind the looks, each of the three would wait for half a minute, and be given up."""
    token = TokenFactory(account__upstream_id=5, account__options=options)
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), token.bucket, 30, 6)
    upstream.respond(*ME, profile())
    upstream.respond("GET", "/credits/costs", make_response({"A": {"credits": 4}}))
    upstream.respond("GET", "/faceless/options", make_response({"mandatory": {"voices": []}}))
    tokens.refresh_account_profile(token.account)
    account = Account.objects.get()
    assert (account.costs, account.options["mandatory"]) == ({"A": {"credits": 4}}, {"voices": []})


def test_the_balance_is_as_of_the_request_and_not_of_the_wait_for_its_permit(
    db: None, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is charged while it waits is in the answer; taken off again, it would count twice."""
    turns: list[datetime] = []

    def turn(*_: object) -> Permit:
        turns.append(timezone.now())
        return Permit(True, 0)

    monkeypatch.setattr(rate_limiter, "acquire", turn)
    upstream.respond(*ME, profile())
    upstream.respond("GET", "/credits/costs", make_response({}))
    upstream.respond("GET", "/faceless/options", make_response({}))
    tokens.refresh_account_profile(TokenFactory(account__upstream_id=5).account)
    assert turns[0] < (Account.objects.get().balance_as_of or turns[0]) < turns[1]


def test_costs_that_were_read_stay_when_there_is_no_request_left_for_the_options(
    db: None, upstream: ScriptedUpstream
) -> None:
    old: dict[str, Any] = {"mandatory": {"voices": []}}
    token = TokenFactory(account__upstream_id=5, account__options=old)

    def last(_: httpx.Request) -> httpx.Response:
        rate_limiter.pause_bucket(
            redis_client.connect_redis(), token.bucket, 2 * calls.TOKEN_WINDOW_S
        )
        return make_response({"CONTENT_PROMPT_REQUESTED": {"credits": 4}})

    upstream.respond(*ME, profile())
    upstream.respond("GET", "/credits/costs", last)
    with pytest.raises(RateLimitExhausted):
        tokens.refresh_account_profile(Account.objects.get())
    account = Account.objects.get()
    assert account.costs == {"CONTENT_PROMPT_REQUESTED": {"credits": 4}}
    assert (account.options, account.options_as_of) == (old, None)


def test_a_token_that_does_not_open_leaves_the_profile_to_another_members(
    db: None, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, profile())
    upstream.respond("GET", "/credits/costs", make_response({}))
    upstream.respond("GET", "/faceless/options", make_response({}))
    account = AccountFactory(upstream_id=5, plan=AccountPlan.NONE)
    TokenFactory(account=account)
    Token.objects.update(ciphertext=b"not ours")
    other = TokenFactory(account=account, state=TokenState.PAUSED)
    tokens.refresh_account_profile(account)
    other.refresh_from_db()
    assert other.state == TokenState.WORKING


def test_a_removed_token_leaves_nothing_to_open(db: None, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ME, profile())
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(value()))
    tokens.destroy_token(token)
    token.refresh_from_db()
    assert bytes(token.ciphertext) == b""
    assert token.state == TokenState.REMOVED
