"""What a token that stopped working left behind goes to another token of the account."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.utils import timezone

from proxyapi import calls, tokens
from proxyapi.charges import approve_draft_charge
from proxyapi.models import ChargeState, JobState, Token, TokenState
from proxyapi.refusals import TokenRefused
from proxyapi.upstream import errors
from proxyapi.upstream.secret import Secret
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    JobFactory,
    TenantFactory,
    TokenFactory,
    UserFactory,
)
from tests.proxyapi.scripted_upstream import ScriptedUpstream
from tests.proxyapi.test_tokens import ME, profile, value

pytestmark = pytest.mark.postgresql


@pytest.mark.parametrize("state", [TokenState.REVOKED, TokenState.REMOVED])
def test_a_new_token_of_the_account_goes_on_with_what_the_old_one_made(
    db: None, upstream: ScriptedUpstream, state: TokenState
) -> None:
    upstream.respond(*ME, profile(5))
    old = old_token(state)
    later = timezone.now() + timedelta(hours=1)
    running = {"state": JobState.RUNNING, "remote_id": "7", "next_poll_at": later}
    render = ChargeFactory(job=JobFactory(token=old, account=old.account, **running))
    unpriced = JobFactory(token=old, account=old.account, draft__quote_error="The service is away.")
    far = timezone.now() + timedelta(minutes=4)
    waiting = JobFactory(token=old, account=old.account, draft__quote_due_at=far)
    new = tokens.store_token(old.tenant, old.owner_id, Secret(value("b")))
    render.refresh_from_db()
    unpriced.refresh_from_db()
    assert (render.token, render.job.token, unpriced.token) == (new, new, new)
    assert render.job.next_poll_at < later
    assert (unpriced.draft.quote_error, unpriced.draft.quote_due_at is not None) == ("", True)
    waiting.refresh_from_db()
    assert waiting.draft.quote_due_at is not None
    assert waiting.draft.quote_due_at < far


def test_what_waits_for_consent_is_sent_with_the_new_token_and_what_ended_stays(
    db: None, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, profile(5))
    old = old_token(TokenState.REMOVED)
    job = JobFactory(token=old, account=old.account)
    draft = ChargeFactory(job=job, state=ChargeState.DRAFT)
    declined = ChargeFactory(job=job, state=ChargeState.REFUSED)
    new = tokens.store_token(old.tenant, old.owner_id, Secret(value("b")))
    sent = approve_draft_charge(draft)
    declined.refresh_from_db()
    assert (sent.state, sent.token, sent.job.token) == (ChargeState.HELD, new, new)  # type: ignore[union-attr]
    assert declined.token == old


@pytest.mark.parametrize("how", ["removed here", "revoked at the service"])
def test_a_token_that_stops_leaves_what_it_made_to_one_that_was_added_before(
    how: str, db: None, upstream: ScriptedUpstream
) -> None:
    """The usual order of a change of tokens: the new one first."""
    upstream.respond(*ME, profile(5))
    old = old_token(TokenState.WORKING)
    now = timezone.now()
    running = {"state": JobState.RUNNING, "remote_id": "7", "next_poll_at": now}
    job = JobFactory(token=old, account=old.account, **running)
    lost = ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=now)
    film = JobFactory(token=old, account=old.account, state=JobState.COMPLETED, remote_id="8")
    new = tokens.store_token(old.tenant, old.owner_id, Secret(value("b")))
    film.refresh_from_db()
    assert film.token == old
    if how == "removed here":
        tokens.destroy_token(old)
    else:
        calls.learn_from_error(old, errors.Unauthorized())
    for row in (lost, film):
        row.refresh_from_db()
    assert (lost.token, lost.job.token, film.token) == (new, new, new)


def damage(token: Token) -> None:
    Token.objects.filter(pk=token.pk).update(ciphertext=b"\0" + bytes(token.ciphertext)[1:])


def test_a_new_token_goes_on_with_what_is_left_on_one_that_does_not_open(
    db: None, upstream: ScriptedUpstream
) -> None:
    """The service shows a value once, so the same one is seldom there to be added again."""
    upstream.respond(*ME, profile(5))
    tenant, owner = TenantFactory(), UserFactory()
    first = tokens.store_token(tenant, owner.pk, Secret(value()))
    job = JobFactory(token=first, account=first.account, tenant=tenant)
    damage(first)
    second = tokens.store_token(tenant, owner.pk, Secret(value("b")))
    job.refresh_from_db()
    assert job.token == second


def test_what_a_token_left_is_not_handed_to_one_that_does_not_open(
    db: None, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ME, profile(5))
    tenant, owner = TenantFactory(), UserFactory()
    first, second, third = (
        tokens.store_token(tenant, owner.pk, Secret(value(one))) for one in "abc"
    )
    job = JobFactory(token=first, account=first.account, tenant=tenant)
    damage(third)
    tokens.destroy_token(first)
    job.refresh_from_db()
    assert job.token == second


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_token_that_was_refused_or_does_not_open_is_added_again_by_its_owner(
    db: None, upstream: ScriptedUpstream, is_damaged: bool
) -> None:
    upstream.respond(*ME, profile(5))
    tenant, owner = TenantFactory(), UserFactory()
    first = tokens.store_token(tenant, owner.pk, Secret(value()))
    job = JobFactory(token=first, account=first.account, tenant=tenant)
    if is_damaged:
        damage(first)
    else:
        calls.learn_from_error(first, errors.Unauthorized())
    with pytest.raises(TokenRefused, match="already added to the team"):
        tokens.store_token(tenant, UserFactory().pk, Secret(value()))
    again = tokens.store_token(tenant, owner.pk, Secret(value()))
    first.refresh_from_db()
    job.refresh_from_db()
    assert (again.state, first.state) == (TokenState.WORKING, TokenState.REMOVED)
    assert (job.token, bytes(first.ciphertext)) == (again, b"")
    assert (again.refused_at is None) == is_damaged
    assert again.refused_at == first.refused_at


def test_a_token_of_another_account_or_member_takes_over_nothing(
    db: None, upstream: ScriptedUpstream
) -> None:
    """pitfall_04: what the old token left is of its account, and stays with it."""
    upstream.respond(*ME, profile(6), profile(5))
    old = old_token(TokenState.REVOKED)
    job = JobFactory(token=old, account=old.account)
    tokens.store_token(old.tenant, old.owner_id, Secret(value("b")))
    tokens.store_token(old.tenant, UserFactory().pk, Secret(value("c")))
    job.refresh_from_db()
    assert job.token == old


def old_token(state: TokenState) -> Token:
    """Of the account 5, which is the one of this environment."""
    account = AccountFactory(upstream_id=5, environment=settings.VIDEO_API_BASE_URL)
    token: Token = TokenFactory(account=account, state=state)
    return token
