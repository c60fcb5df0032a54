"""Tokens come and go: one is checked with `GET /me`, stored sealed, and opens an account row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from proxyapi import allowance, calls, door, throttle, upstream_address
from proxyapi.allowance import Lane
from proxyapi.events import Event, publish
from proxyapi.heirs import take_over
from proxyapi.models import Account, Plan, Token, TokenState, Vault
from proxyapi.refusals import TokenRefused
from proxyapi.upstream import errors, wire
from proxyapi.upstream.secret import Secret, TokenMalformed, clean_token

REFRESHED_TOGETHER = timedelta(seconds=20)
KNOWN = "This token is already in the team's room."
OF_ANOTHER = (
    "This token is stored for another address of the service ({address}). It was not sent. To use "
    "it at the address that the portal uses now, its owner removes it first."
)
UNCHECKED = "The service did not answer, so the token could not be checked and was not stored."
# Wrong tokens a minute that reach the service; one that it knows does not count.
WRONG_TOKENS_OF_MEMBER = 5
WRONG_TOKENS_OF_TEAM = 15
TOO_MANY = (
    "Too many tokens were tried within a minute. This one was not sent to the service. Try again "
    "in {wait} s."
)
PATIENCE = 5  # seconds to wait for a request of the allowance


def nothing(_: Token) -> None:
    pass


def add(
    vault: Vault, owner_id: int, pasted: Secret, also: Callable[[Token], None] = nothing
) -> Token:
    """Check, seal and store a token; answers its row. Raises `TokenRefused` or `TooManyTries`; the
    value is never echoed. `also` is done with the row before anybody sees it, or the row is not
    stored.

    One that the service refused for a while, or whose seal does not open any more, may be added
    again by its owner, in its own place.
    """
    try:
        secret = clean_token(pasted.reveal())
    except TokenMalformed as malformed:
        raise TokenRefused(str(malformed), field="token") from None
    token = Token(vault=vault, owner_id=owner_id, fingerprint=door.fingerprint(secret))
    same = Token.objects.standing().filter(vault=vault, fingerprint=token.fingerprint)
    same = same.select_related("account")
    for stored in same.exclude(upstream_address.in_use("account__environment")):
        sentence = OF_ANOTHER.format(address=stored.account.environment)
        raise TokenRefused(sentence, field="token")
    again = next(filter(is_lost, same.filter(owner=owner_id)), None)
    if again is None and same.exists():
        raise TokenRefused(KNOWN, field="token")
    asked_at = timezone.now()
    profile = ask_who_throttled(token, secret)
    try:
        with transaction.atomic():
            token.account = account_of(vault, profile, asked_at)
            token.checked_at = timezone.now()
            token.state = state_for(token.account)
            door.seal_in(token, secret)
            if again is not None:
                remove(again)
            token.save()
            take_over(token)
            also(token)
            publish(vault.pk, Event.TOKEN, token.pk)
            publish(vault.pk, Event.ACCOUNT, token.account_id)
    except IntegrityError:  # somebody else added it while the service was asked
        raise TokenRefused(KNOWN, field="token") from None
    return token


def ask_who_throttled(token: Token, secret: Secret) -> dict[str, Any]:
    """`ask_who`, as often as a member and a team may have a token checked that the service does not
    know. Raises `TooManyTries` or `TokenRefused`."""
    limits = {
        f"wrong-tokens-of-member:{token.owner_id}": WRONG_TOKENS_OF_MEMBER,
        f"wrong-tokens-of-team:{token.vault_id}": WRONG_TOKENS_OF_TEAM,
    }
    counted = throttle.count_try(limits, TOO_MANY)
    profile = ask_who(token, secret)
    throttle.take_back(limits, counted)
    return profile


def ask_who(token: Token, secret: Secret) -> dict[str, Any]:
    """The profile behind a token that has no row yet (spec, Account)."""
    try:
        allowance.wait_for(allowance.connection(), token.bucket, Lane.PERSON, PATIENCE)
        reply = calls.client().call("me.get", secret)
    except errors.Unauthorized:
        raise TokenRefused(
            "The service does not know this token. Copy it again from your account settings there.",
            field="token",
        ) from None
    except allowance.AllowanceExhausted as exhausted:
        raise TokenRefused(f"{exhausted.user_message} Nothing was stored.", field="token") from None
    except errors.UpstreamError as error:
        calls.note_limits(token, error)
        is_full = isinstance(error, errors.RateLimited)
        why = f"{error.user_message} Nothing was stored." if is_full else UNCHECKED
        raise TokenRefused(why, field="token") from None
    calls.note_allowance(token, reply.allowance)
    if not isinstance(reply.data, dict) or not isinstance(reply.data.get("id"), int):
        raise TokenRefused(
            "The service answered, but not with an account. Nothing was stored.", field="token"
        )
    return reply.data


def account_of(vault: Vault, profile: dict[str, Any], asked_at: datetime) -> Account:
    """The one row of this upstream account; two members' tokens of one account share it.

    Of a sandbox that had another port the row of before: its address stays as it was sealed.
    """
    known = Account.objects.of_current_upstream().filter(vault=vault, upstream_id=profile["id"])
    account = known.order_by("created_at").first()
    if account is None:
        account, _ = Account.objects.get_or_create(
            vault=vault, environment=settings.VIDEO_API_BASE_URL, upstream_id=profile["id"]
        )
    Account.objects.lock(account.pk)  # before it is written: other rows are locked after it
    account.note_profile(profile, asked_at)
    return account


def is_lost(token: Token) -> bool:
    """Whether nobody can use it as it is stored."""
    return token.state == TokenState.REVOKED or not door.opens(token)


def state_for(account: Account) -> TokenState:
    return TokenState.WORKING if account.plan == Plan.PAID else TokenState.PAUSED


def remove(token: Token) -> None:
    """Destroy the sealed value at once; the row stays for what it made."""
    calls.change_state(token, TokenState.REMOVED)
    token.sealed = b""
    token.save(update_fields=["sealed"])


def refresh(account: Account) -> None:
    """Re-read profile, costs and options through any token that still opens the account.

    A paused token resumes here by itself once the plan is paid again (spec, Authentication 6).
    """
    token = door.openable(account.tokens.usable().select_related("account").order_by("state_since"))
    if token is None or not claim(account):
        return
    # The first time somebody waits for the voices to appear. Later nobody does; but three requests
    # in ten minutes go before the looks: behind them, on a busy token, the last would never come.
    lane = Lane.SETTLEMENT if account.options else Lane.PERSON
    grant = calls.admit(token, lane, PATIENCE)
    asked_at = timezone.now()  # after the wait: what was charged during it is in the answer
    profile = dict(wire.mapping(calls.send(token, "me.get", grant).data))
    if is_anothers(profile, account):
        return
    account.note_profile(profile, asked_at)
    for one in account.tokens.usable():
        calls.change_state(one, state_for(account))
        take_over(one)
    account.costs = asked(token, "credits.costs", lane) or account.costs
    account.save(update_fields=["costs"])
    if account.plan == Plan.PAID:
        account.options = asked(token, "faceless.options", lane) or account.options
        account.options_as_of = timezone.now()
        account.save(update_fields=["options", "options_as_of"])
    publish(account.vault_id, Event.ACCOUNT, account.pk)


def is_anothers(profile: dict[str, Any], account: Account) -> bool:
    """Whether it tells of another account than this one: nothing of it is taken (pitfall 2)."""
    return isinstance(id := profile.get("id"), int) and id != account.upstream_id


def asked(token: Token, name: str, lane: Lane) -> dict[str, Any]:
    """The object that a read answers; empty where it answers something else."""
    return dict(wire.mapping(calls.call(token, name, lane, patience=PATIENCE).data))


def claim(account: Account) -> bool:
    """Whether this reading is ours: three tokens of one account do not read it three times."""
    now = timezone.now()
    lately = Q(refreshed_at__gt=now - REFRESHED_TOGETHER)
    return bool(Account.objects.filter(~lately, pk=account.pk).update(refreshed_at=now))
