"""Tokens: checked, sealed, shared accounts; what is wrong with one is said without showing it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.utils import timezone

from proxyapi import allowance, calls, door, tasks, tokens
from proxyapi.allowance import AllowanceExhausted, Grant, Lane
from proxyapi.charges import release
from proxyapi.models import Account, ChargeState, JobState, Plan, Token, TokenState
from proxyapi.refusals import TokenRefused
from proxyapi.seal import SealBroken
from proxyapi.upstream import errors
from proxyapi.upstream.secret import Secret
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    JobFactory,
    TokenFactory,
    UserFactory,
    VaultFactory,
)
from tests.proxyapi.upstream_script import Upstream, answer, refused, used_up

ME = ("GET", "/me")


def profile(id: int = 5, **subscription: Any) -> httpx.Response:
    plan = {"exists": True, "active": True, "trial": False, "plan": "Studio", **subscription}
    credits = {"remaining": 800, "total": 1200, "extra": 250}
    return answer({"id": id, "email_verified": True, "credits": credits, "subscription": plan})


def value(letter: str = "a") -> str:
    return "sbx_" + letter * 24


def test_a_token_is_sealed_and_opens_for_its_row_only(db: None, upstream: Upstream) -> None:
    upstream.on(*ME, profile())
    vault, user = VaultFactory(), UserFactory()
    token = tokens.add(vault, user.pk, Secret(f"  {value()}\n"))
    other = tokens.add(vault, user.pk, Secret(value("b")))
    assert value().encode() not in bytes(token.sealed)
    assert door.opened(token).reveal() == value()
    other.sealed = token.sealed
    with pytest.raises(SealBroken):
        door.opened(other)


def test_one_token_in_two_teams_has_one_count(db: None, upstream: Upstream) -> None:
    """Law 5: the service counts by token, whoever stored it."""
    upstream.on(*ME, profile(), profile())
    first, second = (tokens.add(VaultFactory(), UserFactory().pk, Secret(value())) for _ in "ab")
    other = tokens.add(VaultFactory(), UserFactory().pk, Secret(value("b")))
    assert first.vault_id != second.vault_id
    allowance.pause(allowance.connection(), first.bucket, 60)
    with pytest.raises(AllowanceExhausted):
        calls.admit(second, Lane.PERSON)
    calls.admit(other, Lane.PERSON)


def test_a_token_that_is_added_again_goes_on_counting(db: None, upstream: Upstream) -> None:
    """Law 5: taken out and pasted anew within the minute, it has no more than it had."""
    upstream.on(*ME, profile(), profile())
    vault, user = VaultFactory(), UserFactory()
    gone = tokens.add(vault, user.pk, Secret(value()))
    tokens.remove(gone)
    allowance.pause(allowance.connection(), gone.bucket, 60)
    with pytest.raises(TokenRefused, match="this one's are used up"):
        tokens.add(vault, user.pk, Secret(value()))
    assert len(upstream.requests) == 1


def test_a_token_that_is_refused_for_its_requests_waits_in_every_team(
    db: None, upstream: Upstream
) -> None:
    """Law 5: what the first question is told of the limit holds for who has it already."""
    upstream.on(*ME, profile(), used_up(left=0, seconds=40))
    first = tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    with pytest.raises(TokenRefused, match=r"next one in 40 s\..*Nothing was stored"):
        tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    assert allowance.paused(allowance.connection(), first.bucket) > 30


def test_two_tokens_of_one_account_share_its_row(db: None, upstream: Upstream) -> None:
    upstream.on(*ME, profile())
    vault = VaultFactory()
    first = tokens.add(vault, UserFactory().pk, Secret(value("a")))
    second = tokens.add(vault, UserFactory().pk, Secret(value("b")))
    assert first.account == second.account
    assert Account.objects.get().balance == 800


def test_the_same_token_twice_is_refused(db: None, upstream: Upstream) -> None:
    upstream.on(*ME, profile())
    vault = VaultFactory()
    tokens.add(vault, UserFactory().pk, Secret(value()))
    with pytest.raises(TokenRefused, match="already"):
        tokens.add(vault, UserFactory().pk, Secret(value()))


def test_a_token_that_two_add_at_once_is_refused_to_the_second(
    db: None, upstream: Upstream
) -> None:
    vault, first = VaultFactory(), UserFactory().pk

    def meanwhile(_: httpx.Request) -> httpx.Response:
        upstream.on(*ME, profile())
        tokens.add(vault, first, Secret(value()))
        return profile()

    upstream.on(*ME, meanwhile)
    with pytest.raises(TokenRefused, match="already"):
        tokens.add(vault, UserFactory().pk, Secret(value()))
    assert Token.objects.get().owner_id == first


def test_a_removed_token_is_not_used_by_who_has_it_in_hand(db: None, upstream: Upstream) -> None:
    token = TokenFactory()
    tokens.remove(Token.objects.get(pk=token.pk))
    with pytest.raises(calls.TokenGone):
        calls.call(token, "me.get", Lane.PERSON)
    assert upstream.requests == []


@pytest.mark.parametrize("left", [{}, {"options_as_of": timezone.now()}])
def test_an_account_whose_voices_were_not_read_is_read_in_the_next_round(
    left: dict[str, Any], db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing can be made before: ten minutes after one failed answer were too long."""
    minute_ago = timezone.now() - timedelta(minutes=1)
    account = AccountFactory(plan=Plan.PAID, refreshed_at=minute_ago, **left)
    rung: list[str] = []
    monkeypatch.setattr(tasks.refresh_account, "delay", rung.append)
    tasks.refresh_accounts()
    assert rung == ([] if left else [str(account.pk)])


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "x" * 10_000, "tök€n", "two words"])
def test_f7_a_malformed_token_never_leaves_and_is_never_echoed(
    text: str, db: None, upstream: Upstream
) -> None:
    with pytest.raises(TokenRefused) as refusal:
        tokens.add(VaultFactory(), UserFactory().pk, Secret(text))
    assert upstream.requests == []
    assert not text.strip() or text.strip() not in refusal.value.sentence


@pytest.mark.parametrize(
    "trouble",
    [refused(401, "GEN-UNAUTHORIZED"), httpx.ConnectError, httpx.Response(200, html="<p>hi</p>")],
)
def test_a_token_that_cannot_be_checked_is_not_stored(
    trouble: Any, db: None, upstream: Upstream
) -> None:
    upstream.on(*ME, trouble)
    with pytest.raises(TokenRefused) as refusal:
        tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    assert value() not in refusal.value.sentence
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("subscription", "plan"), [({"trial": True}, Plan.TRIAL), ({"active": False}, Plan.NONE)]
)
def test_pitfall_86_a_plan_that_may_not_render_pauses_the_token(
    subscription: dict[str, bool], plan: Plan, db: None, upstream: Upstream
) -> None:
    upstream.on(*ME, profile(**subscription))
    token = tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    assert token.state == TokenState.PAUSED
    assert token.account.plan == plan


def test_a_paused_token_resumes_by_itself(db: None, upstream: Upstream) -> None:
    upstream.on(*ME, profile(trial=True), profile())
    upstream.on("GET", "/credits/costs", answer({"CONTENT_PROMPT_REQUESTED": {"credits": 4}}))
    upstream.on("GET", "/faceless/options", answer({"mandatory": {}, "optional": {}}))
    token = tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    tokens.refresh(token.account)
    token.refresh_from_db()
    assert token.state == TokenState.WORKING
    assert Account.objects.get().costs == {"CONTENT_PROMPT_REQUESTED": {"credits": 4}}


@pytest.mark.parametrize("options", [{}, {"mandatory": {}}])
def test_costs_and_voices_are_read_while_looks_fill_the_minute(
    options: Any, db: None, upstream: Upstream
) -> None:
    """Behind the looks, each of the three would wait for half a minute, and be given up."""
    token = TokenFactory(account__upstream_id=5, account__options=options)
    allowance.correct(allowance.connection(), token.bucket, 30, 6)
    upstream.on(*ME, profile())
    upstream.on("GET", "/credits/costs", answer({"A": {"credits": 4}}))
    upstream.on("GET", "/faceless/options", answer({"mandatory": {"voices": []}}))
    tokens.refresh(token.account)
    account = Account.objects.get()
    assert (account.costs, account.options["mandatory"]) == ({"A": {"credits": 4}}, {"voices": []})


def test_the_balance_is_as_of_the_request_and_not_of_the_wait_for_its_turn(
    db: None, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is charged while it waits is in the answer; taken off again, it would count twice."""
    turns: list[datetime] = []

    def turn(*_: object) -> Grant:
        turns.append(timezone.now())
        return Grant(True, 0)

    monkeypatch.setattr(allowance, "wait_for", turn)
    upstream.on(*ME, profile())
    upstream.on("GET", "/credits/costs", answer({}))
    upstream.on("GET", "/faceless/options", answer({}))
    tokens.refresh(TokenFactory(account__upstream_id=5).account)
    assert turns[0] < (Account.objects.get().balance_as_of or turns[0]) < turns[1]


def test_costs_that_were_read_stay_when_there_is_no_request_left_for_the_options(
    db: None, upstream: Upstream
) -> None:
    old: dict[str, Any] = {"mandatory": {"voices": []}}
    token = TokenFactory(account__upstream_id=5, account__options=old)

    def last(_: httpx.Request) -> httpx.Response:
        allowance.pause(allowance.connection(), token.bucket, 2 * calls.WINDOW)
        return answer({"CONTENT_PROMPT_REQUESTED": {"credits": 4}})

    upstream.on(*ME, profile())
    upstream.on("GET", "/credits/costs", last)
    with pytest.raises(AllowanceExhausted):
        tokens.refresh(Account.objects.get())
    account = Account.objects.get()
    assert account.costs == {"CONTENT_PROMPT_REQUESTED": {"credits": 4}}
    assert (account.options, account.options_as_of) == (old, None)


def test_a_token_that_does_not_open_leaves_the_profile_to_another_members(
    db: None, upstream: Upstream
) -> None:
    upstream.on(*ME, profile())
    upstream.on("GET", "/credits/costs", answer({}))
    upstream.on("GET", "/faceless/options", answer({}))
    account = AccountFactory(upstream_id=5, plan=Plan.NONE)
    TokenFactory(account=account)
    Token.objects.update(sealed=b"not ours")
    other = TokenFactory(account=account, state=TokenState.PAUSED)
    tokens.refresh(account)
    other.refresh_from_db()
    assert other.state == TokenState.WORKING


def test_a_removed_token_leaves_nothing_to_open(db: None, upstream: Upstream) -> None:
    upstream.on(*ME, profile())
    token = tokens.add(VaultFactory(), UserFactory().pk, Secret(value()))
    tokens.remove(token)
    token.refresh_from_db()
    assert bytes(token.sealed) == b""
    assert token.state == TokenState.REMOVED


@pytest.mark.parametrize("state", [TokenState.REVOKED, TokenState.REMOVED])
def test_a_new_token_of_the_account_goes_on_with_what_the_old_one_made(
    db: None, upstream: Upstream, state: TokenState
) -> None:
    upstream.on(*ME, profile(5))
    old = old_token(state)
    later = timezone.now() + timedelta(hours=1)
    running = {"state": JobState.RUNNING, "remote_id": "7", "next_look_at": later}
    render = ChargeFactory(job=JobFactory(token=old, account=old.account, **running))
    unpriced = JobFactory(token=old, account=old.account, quote_error="The service is away.")
    far = timezone.now() + timedelta(minutes=4)
    waiting = JobFactory(token=old, account=old.account, quote_due_at=far)
    new = tokens.add(old.vault, old.owner_id, Secret(value("b")))
    render.refresh_from_db()
    unpriced.refresh_from_db()
    assert (render.token, render.job.token, unpriced.token) == (new, new, new)
    assert render.job.next_look_at < later
    assert (unpriced.quote_error, unpriced.quote_due_at is not None) == ("", True)
    waiting.refresh_from_db()
    assert waiting.quote_due_at is not None
    assert waiting.quote_due_at < far


def test_what_waits_for_consent_is_sent_with_the_new_token_and_what_ended_stays(
    db: None, upstream: Upstream
) -> None:
    upstream.on(*ME, profile(5))
    old = old_token(TokenState.REMOVED)
    job = JobFactory(token=old, account=old.account)
    draft = ChargeFactory(job=job, state=ChargeState.DRAFT)
    declined = ChargeFactory(job=job, state=ChargeState.REFUSED)
    new = tokens.add(old.vault, old.owner_id, Secret(value("b")))
    sent = release(draft)
    declined.refresh_from_db()
    assert (sent.state, sent.token, sent.job.token) == (ChargeState.HELD, new, new)  # type: ignore[union-attr]
    assert declined.token == old


@pytest.mark.parametrize("how", ["removed here", "revoked at the service"])
def test_a_token_that_stops_leaves_what_it_made_to_one_that_was_added_before(
    how: str, db: None, upstream: Upstream
) -> None:
    """The usual order of a change of tokens: the new one first."""
    upstream.on(*ME, profile(5))
    old = old_token(TokenState.WORKING)
    now = timezone.now()
    running = {"state": JobState.RUNNING, "remote_id": "7", "next_look_at": now}
    job = JobFactory(token=old, account=old.account, **running)
    lost = ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=now)
    film = JobFactory(token=old, account=old.account, state=JobState.COMPLETED, remote_id="8")
    new = tokens.add(old.vault, old.owner_id, Secret(value("b")))
    film.refresh_from_db()
    assert film.token == old
    if how == "removed here":
        tokens.remove(old)
    else:
        calls.note_failure(old, errors.Unauthorized())
    for row in (lost, film):
        row.refresh_from_db()
    assert (lost.token, lost.job.token, film.token) == (new, new, new)


def damage(token: Token) -> None:
    Token.objects.filter(pk=token.pk).update(sealed=b"\0" + bytes(token.sealed)[1:])


def test_a_new_token_goes_on_with_what_is_left_on_one_that_does_not_open(
    db: None, upstream: Upstream
) -> None:
    """The service shows a value once, so the same one is seldom there to be added again."""
    upstream.on(*ME, profile(5))
    vault, owner = VaultFactory(), UserFactory()
    first = tokens.add(vault, owner.pk, Secret(value()))
    job = JobFactory(token=first, account=first.account, vault=vault)
    damage(first)
    second = tokens.add(vault, owner.pk, Secret(value("b")))
    job.refresh_from_db()
    assert job.token == second


def test_what_a_token_left_is_not_handed_to_one_that_does_not_open(
    db: None, upstream: Upstream
) -> None:
    upstream.on(*ME, profile(5))
    vault, owner = VaultFactory(), UserFactory()
    first, second, third = (tokens.add(vault, owner.pk, Secret(value(one))) for one in "abc")
    job = JobFactory(token=first, account=first.account, vault=vault)
    damage(third)
    tokens.remove(first)
    job.refresh_from_db()
    assert job.token == second


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_token_that_was_refused_or_does_not_open_is_added_again_by_its_owner(
    db: None, upstream: Upstream, is_damaged: bool
) -> None:
    upstream.on(*ME, profile(5))
    vault, owner = VaultFactory(), UserFactory()
    first = tokens.add(vault, owner.pk, Secret(value()))
    job = JobFactory(token=first, account=first.account, vault=vault)
    if is_damaged:
        damage(first)
    else:
        calls.note_failure(first, errors.Unauthorized())
    with pytest.raises(TokenRefused, match="already in the team's room"):
        tokens.add(vault, UserFactory().pk, Secret(value()))
    again = tokens.add(vault, owner.pk, Secret(value()))
    first.refresh_from_db()
    job.refresh_from_db()
    assert (again.state, first.state) == (TokenState.WORKING, TokenState.REMOVED)
    assert (job.token, bytes(first.sealed)) == (again, b"")


def test_a_token_of_another_account_or_member_takes_over_nothing(
    db: None, upstream: Upstream
) -> None:
    """pitfall_04: what the old token left is of its account, and stays with it."""
    upstream.on(*ME, profile(6), profile(5))
    old = old_token(TokenState.REVOKED)
    job = JobFactory(token=old, account=old.account)
    tokens.add(old.vault, old.owner_id, Secret(value("b")))
    tokens.add(old.vault, UserFactory().pk, Secret(value("c")))
    job.refresh_from_db()
    assert job.token == old


def old_token(state: TokenState) -> Token:
    """Of the account 5, which is the one of this environment."""
    account = AccountFactory(upstream_id=5, environment=settings.VIDEO_API_BASE_URL)
    token: Token = TokenFactory(account=account, state=state)
    return token
