"""The tokens page: whose token opens which account, adding one's own, removing one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from dashboard.models import AlertEvent, AuditEvent, Membership
from proxyapi import tokens
from proxyapi.models import Account, AccountPlan, Job, JobState, Token, TokenState
from proxyapi.refusals import TokenRefused
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]
VALUE = "sbx_canary_of_the_tokens_page_5b36"
PROFILE = {
    "id": 77,
    "name": "Northlight Media",
    "email": "billing@northlight.example",
    "email_verified": True,
    "subscription": {"active": True, "trial": False, "plan": "Business"},
    "credits": {"total": 12000, "remaining": 4318},
}


@pytest.fixture
def accepting_service(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service knows the token."""
    accept_tokens_of(monkeypatch)


def accept_tokens_of(monkeypatch: pytest.MonkeyPatch, **profile: Any) -> None:
    monkeypatch.setattr(tokens, "fetch_profile", lambda token, secret: PROFILE | profile)


@pytest.fixture
def account(mira: Membership) -> Account:
    return AccountFactory.create(tenant=mira.team.tenant, name="Northlight Media")


def add(browser: Client, text: str) -> Any:
    return browser.post(reverse("tokens"), {"token": text})


def removal(token: Token) -> str:
    return reverse("token-removals", args=[token.pk])


def test_a_token_is_added_sealed_and_never_shown(
    priya: Membership, client_of: ClientOf, accepting_service: None
) -> None:
    browser = client_of(priya)
    assert add(browser, f"  {VALUE}\n")["Location"] == reverse("tokens")
    token = Token.objects.get()
    assert (token.owner, token.last_four) == (priya.user, "5b36")
    assert VALUE.encode() not in bytes(token.ciphertext)
    page = browser.get(reverse("tokens")).content.decode()
    assert VALUE not in page
    assert "Token …5b36 for Northlight Media added." in page
    assert "Business plan" in page
    assert AuditEvent.objects.get().action == "token.add"


def test_no_token_is_kept_that_the_record_does_not_name(
    priya: Membership, client_of: ClientOf, accepting_service: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OperationalError("no space left")

    monkeypatch.setattr("dashboard.tokens.actions.record_audit_event", full)
    browser = client_of(priya)
    browser.raise_request_exception = False
    assert add(browser, VALUE).status_code == 503
    assert not Token.objects.exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Paste your token here."),
        ("   ", "The token is missing."),
        ("Bearer abc def", "A token has no spaces inside."),
        ("one\ntwo", "This is more than one line."),
        ("x" * 10_240, "This is too long for a token"),
        ("pässword", "This contains characters that are not allowed in a token."),
    ],
)
def test_what_cannot_be_a_token_is_said_under_the_field(
    text: str, sentence: str, priya: Membership, client_of: ClientOf
) -> None:
    response = add(client_of(priya), text)
    page = response.content.decode()
    assert response.status_code == 422
    assert sentence in page
    assert 'aria-invalid="true"' in page
    assert 'id="id_token_error"' in page
    assert not text.strip() or text.strip() not in page
    assert not Token.objects.exists()


def test_a_refusal_of_the_service_is_said_under_the_field(
    priya: Membership, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(token: object, secret: object) -> None:
        raise TokenRefused("The service does not recognize this token.", field="token")

    monkeypatch.setattr(tokens, "fetch_profile", refuse)
    page = add(client_of(priya), VALUE).content.decode()
    assert "The service does not recognize this token." in page
    assert VALUE not in page
    assert not Token.objects.exists()


def test_the_same_token_twice_is_one_token(
    priya: Membership, luca: Membership, client_of: ClientOf, accepting_service: None
) -> None:
    add(client_of(priya), VALUE)
    page = add(client_of(luca), VALUE).content.decode()
    assert "This token was already added to the team." in page
    assert Token.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["mira", "jonas", "thea", "priya"])
def test_whoever_keeps_a_token_may_add_one(
    who: str, request: pytest.FixtureRequest, client_of: ClientOf, accepting_service: None
) -> None:
    assert add(client_of(request.getfixturevalue(who)), VALUE).status_code == 302


def test_a_viewer_sees_why_they_cannot_add_one_and_cannot(
    vera: Membership, client_of: ClientOf
) -> None:
    browser = client_of(vera)
    page = browser.get(reverse("tokens")).content.decode()
    assert "cannot add a token" in page
    assert "id_token" not in page
    response = add(browser, VALUE)
    assert response.status_code == 403
    assert "Your role cannot add a token." in response.content.decode()


def test_members_who_share_an_account_are_named(
    account: Account, mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    TokenFactory.create(account=account, owner=mira.user)
    TokenFactory.create(account=account, owner=priya.user, state=TokenState.REVOKED)
    page = client_of(priya).get(reverse("tokens")).content.decode()
    assert "Mira and Priya share this account: one balance, one ledger." in page
    assert "2 tokens for one account." in page
    assert "Revoked since" in page


def test_a_lapsed_plan_is_said(account: Account, priya: Membership, client_of: ClientOf) -> None:
    account.plan = AccountPlan.NONE
    account.save()
    TokenFactory.create(account=account, owner=priya.user, state=TokenState.PAUSED)
    page = client_of(priya).get(reverse("tokens")).content.decode()
    assert "No plan." in page
    assert "Paused: no paid plan" in page
    assert 'href="#help-plan">What to do</a>' in page
    assert '<div id="help-plan"' in page
    assert "help-address" not in page


@pytest.mark.parametrize(
    ("profile", "why"),
    [
        (
            {"subscription": {"active": False}},
            "It cannot be used yet: the account has no paid plan at the service.",
        ),
        (
            {"subscription": {"active": True, "trial": True}},
            (
                "It cannot be used yet: the account is on a trial, and the service allows its API "
                "on paid plans only."
            ),
        ),
        (
            {"email_verified": False},
            (
                "The service may refuse to render with it until the e-mail address of the account "
                "is verified there."
            ),
        ),
    ],
)
def test_a_token_that_is_of_no_use_is_added_with_the_reason(
    profile: dict[str, Any],
    why: str,
    priya: Membership,
    client_of: ClientOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accept_tokens_of(monkeypatch, **profile)
    page = client_of(priya).post(reverse("tokens"), {"token": VALUE}, follow=True).content
    assert f"Token …5b36 for Northlight Media added. {why}" in page_text(page)
    assert b'data-toast="late"' in page  # it stays until it is closed


def test_another_teams_tokens_are_not_seen(
    account: Account, priya: Membership, otto: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    assert removal(token) in client_of(priya).get(reverse("tokens")).content.decode()
    assert removal(token) not in client_of(otto).get(reverse("tokens")).content.decode()
    assert client_of(otto).get(removal(token)).status_code == 404
    assert client_of(otto).post(removal(token)).status_code == 404


def test_removing_asks_once_and_says_what_goes_on(
    account: Account, priya: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    job = JobFactory.create(account=account, token=token, remote_id="9")
    job.state, job.next_poll_at = JobState.RUNNING, job.created_at
    job.save()
    browser = client_of(priya)
    page = browser.get(removal(token)).content
    assert "One video is rendering with it. It continues at the service" in page_text(page)
    assert b"<!doctype html>" in page
    fragment = browser.get(removal(token), headers={"HX-Request": "true"}).content.decode()
    assert "<!doctype html>" not in fragment
    assert "<dialog" in fragment
    token.refresh_from_db()
    assert token.state == TokenState.WORKING


def test_a_removed_token_is_destroyed_and_written_down(
    account: Account, priya: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    browser = client_of(priya)
    assert browser.post(removal(token)).status_code == 302
    token.refresh_from_db()
    assert (token.state, bytes(token.ciphertext)) == (TokenState.REMOVED, b"")
    assert AuditEvent.objects.get().action == "token.remove"
    assert "No token yet" in browser.get(reverse("tokens")).content.decode()
    assert browser.post(removal(token)).status_code == 404


def test_who_became_a_viewer_still_takes_their_own_token_out(
    account: Account, vera: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=vera.user)
    assert client_of(vera).post(removal(token)).status_code == 302
    token.refresh_from_db()
    assert token.state == TokenState.REMOVED


@pytest.mark.parametrize("who", ["mira", "jonas"])
def test_an_owner_or_admin_removes_the_token_of_anybody(
    who: str,
    account: Account,
    priya: Membership,
    request: pytest.FixtureRequest,
    client_of: ClientOf,
) -> None:
    manager = request.getfixturevalue(who)
    token = TokenFactory.create(account=account, owner=priya.user)
    browser = client_of(manager)
    assert "Remove token" in browser.get(reverse("tokens")).content.decode()
    question = browser.get(removal(token)).content.decode()
    assert "It belongs to <bdi>Priya Raman</bdi>" in question
    page = browser.post(removal(token), follow=True).content.decode()
    assert f"Token …{token.last_four} of Priya Raman was removed." in page
    token.refresh_from_db()
    assert (token.state, bytes(token.ciphertext)) == (TokenState.REMOVED, b"")
    event = AuditEvent.objects.get()
    assert (event.actor_id, event.action) == (str(manager.user_id), "token.remove")
    assert event.before["owner"] == priya.user.email
    told = AlertEvent.objects.get(member=priya.user)
    assert told.title == f"{manager.user.name} removed your token …{token.last_four}"


def test_nobody_else_removes_the_token_of_another_member(
    account: Account, priya: Membership, luca: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    browser = client_of(luca)
    assert "Remove token" not in browser.get(reverse("tokens")).content.decode()
    response = browser.post(removal(token))
    assert response.status_code == 403
    assert (
        "Only the token’s member, an owner or an admin can change it." in response.content.decode()
    )
    token.refresh_from_db()
    assert token.state == TokenState.WORKING


def test_the_question_says_what_becomes_of_running_videos(
    account: Account, mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    job = JobFactory.create(account=account, token=token, remote_id="9")
    Job.objects.update(state=JobState.RUNNING, next_poll_at=job.created_at)
    TokenFactory.create(account=account, owner=mira.user)
    browser = client_of(mira)
    alone = page_text(browser.get(removal(token)).content)
    assert "Reelroom can check again when Priya Raman adds a token." in alone
    other = TokenFactory.create(account=account, owner=priya.user)
    both = page_text(browser.get(removal(token)).content)
    assert "It continues with the other token of Priya Raman for this account." in both
    browser.post(removal(token))
    job.refresh_from_db()
    assert job.token == other


@pytest.mark.parametrize("debug", [True, False])
def test_pitfall_92_a_page_of_an_error_does_not_show_what_was_typed(
    debug: bool,
    priya: Membership,
    client_of: ClientOf,
    accepting_service: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    """Django's own debug page included, with the variables of every frame."""

    def broken(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(tokens, "reassign_work", broken)
    browser = client_of(priya)
    browser.raise_request_exception = False
    browser.get(reverse("tokens"))
    settings.DEBUG = debug
    answer = add(browser, VALUE)
    page = answer.content.decode()
    assert answer.status_code == 500
    assert ("RuntimeError" in page) is debug
    assert VALUE not in page
