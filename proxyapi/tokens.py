"""Tokens: each is checked with `GET /me`, stored encrypted, and belongs to an account row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from proxyapi import calls, rate_limiter, redis_client, throttle, upstream_address
from proxyapi.credentials import token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import Account, AccountPlan, Tenant, Token, TokenState
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import TokenRefused
from proxyapi.token_failover import reassign_work
from proxyapi.upstream import errors, response_parsing
from proxyapi.upstream.secret import Secret, TokenMalformed, clean_token

PROFILE_OPERATION = "me.get"
OPTIONS_OPERATION, CLIP_MODELS_OPERATION = "faceless.options", "text_to_video.models"
MIN_REFRESH_INTERVAL = timedelta(seconds=20)
ALREADY_STORED = "This token was already added to the team."
STORED_FOR_OTHER_UPSTREAM = (
    "This token is stored for another address of the service ({address}). It was not sent. To use "
    "it at the current address, its owner must remove it first."
)
PROFILE_UNREADABLE = (
    "The service did not respond, so the token could not be checked and was not stored."
)
# Unknown tokens a minute that are sent upstream; a token that it knows does not count.
MEMBER_WRONG_TOKENS_PER_MINUTE = 5
TEAM_WRONG_TOKENS_PER_MINUTE = 15
TOO_MANY_WRONG_TOKENS = (
    "Too many tokens were tried within a minute. This one was not sent to the service. Try again "
    "in {wait} s."
)
PERMIT_TIMEOUT_S = 5  # seconds to wait for a permit


def no_extra_step(_: Token) -> None:
    pass


def store_token(
    tenant: Tenant,
    owner_id: int,
    pasted: Secret,
    also: Callable[[Token], None] = no_extra_step,
    name: str = "",
) -> Token:
    """Check, encrypt and store a token; return its row. The value never appears in errors.

    `also` runs on the row in the same transaction. A token that the service refused for a while, or
    that cannot be decrypted any more, may be added again by its owner and keeps its row. Raises
    `TokenRefused` or `TooManyAttempts`.
    """
    try:
        secret = clean_token(pasted.reveal())
    except TokenMalformed as malformed:
        raise TokenRefused(str(malformed), field="token") from None
    token = Token(
        tenant=tenant,
        owner_id=owner_id,
        fingerprint=token_vault.token_fingerprint(secret),
        name=name,
    )
    same = Token.objects.not_removed().filter(tenant=tenant, fingerprint=token.fingerprint)
    same = same.select_related("account")
    for stored in same.exclude(upstream_address.current_upstream_filter("account__environment")):
        sentence = STORED_FOR_OTHER_UPSTREAM.format(address=stored.account.environment)
        raise TokenRefused(sentence, field="token")
    again = next(filter(is_token_unusable, same.filter(owner=owner_id)), None)
    if again is None and same.exists():
        raise TokenRefused(ALREADY_STORED, field="token")
    requested_at = timezone.now()
    profile = fetch_profile_throttled(token, secret)
    try:
        with transaction.atomic():
            token.account = get_or_create_account(tenant, profile, requested_at)
            token.checked_at = timezone.now()
            token.state = token_state_for(token.account)
            token_vault.encrypt_token_into(token, secret)
            if again is not None:
                token.refused_at, token.name = again.refused_at, name or again.name
                destroy_token(again)
            token.save()
            reassign_work(token)
            also(token)
            publish_event(tenant.pk, EventType.TOKEN, token.pk)
            publish_event(tenant.pk, EventType.ACCOUNT, token.account_id)
    except IntegrityError:  # another member added it during the request
        raise TokenRefused(ALREADY_STORED, field="token") from None
    return token


def fetch_profile_throttled(token: Token, secret: Secret) -> dict[str, Any]:
    """Call `fetch_profile`, limited per member and team while tokens turn out to be unknown to the
    service.

    Raises `TooManyAttempts` or `TokenRefused`.
    """
    limits = {
        f"wrong-tokens-of-member:{token.owner_id}": MEMBER_WRONG_TOKENS_PER_MINUTE,
        f"wrong-tokens-of-team:{token.tenant_id}": TEAM_WRONG_TOKENS_PER_MINUTE,
    }
    counted = throttle.count_attempt(limits, TOO_MANY_WRONG_TOKENS)
    profile = fetch_profile(token, secret)
    throttle.forget_attempt(limits, counted)
    return profile


def fetch_profile(token: Token, secret: Secret) -> dict[str, Any]:
    """Return the profile of a token that has no row yet (spec, Account)."""
    try:
        rate_limiter.acquire(
            redis_client.connect_redis(), token.bucket, Priority.PERSON, PERMIT_TIMEOUT_S
        )
        reply = calls.upstream_client().call(PROFILE_OPERATION, secret)
    except errors.Unauthorized:
        raise TokenRefused(
            "The service does not recognize this token. Copy it again from your account settings "
            "there.",
            field="token",
        ) from None
    except rate_limiter.RateLimitExhausted as exhausted:
        raise TokenRefused(f"{exhausted.user_message} Nothing was stored.", field="token") from None
    except errors.UpstreamError as error:
        calls.learn_limits_from_error(token, error)
        is_full = isinstance(error, errors.RateLimited)
        why = f"{error.user_message} Nothing was stored." if is_full else PROFILE_UNREADABLE
        raise TokenRefused(why, field="token") from None
    calls.learn_rate_limit(token, reply.rate_limit)
    if not isinstance(reply.data, dict) or not isinstance(reply.data.get("id"), int):
        raise TokenRefused(
            "The service's response contains no account. Nothing was stored.", field="token"
        )
    return reply.data


def get_or_create_account(
    tenant: Tenant, profile: dict[str, Any], requested_at: datetime
) -> Account:
    """Return the tenant's row of this upstream account; tokens of one account share it.

    Without a token until now it is added anew: an archived one is restored. For a sandbox that
    moved to another port the existing row is used; its address does not change, because tokens are
    encrypted for it.
    """
    existing = Account.objects.of_current_upstream().filter(
        tenant=tenant, upstream_id=profile["id"]
    )
    account = existing.order_by("created_at").first()
    if account is None:
        account, _ = Account.objects.get_or_create(
            tenant=tenant, environment=settings.VIDEO_API_BASE_URL, upstream_id=profile["id"]
        )
    Account.objects.lock_upstream_account(
        account.pk
    )  # before it is written: other rows are locked after it
    if not account.tokens.not_removed().exists():
        account.archived_at, account.peak_balance = None, Decimal(0)
        account.save(update_fields=["archived_at", "peak_balance"])
    account.save_profile(profile, requested_at)
    return account


def is_token_unusable(token: Token) -> bool:
    """Whether the stored token cannot be used any more."""
    return token.state == TokenState.REVOKED or not token_vault.can_decrypt(token)


def token_state_for(account: Account) -> TokenState:
    return TokenState.WORKING if account.plan == AccountPlan.PAID else TokenState.PAUSED


def destroy_token(token: Token) -> None:
    """Delete the ciphertext at once; the row stays for what was made with the token."""
    calls.change_token_state(token, TokenState.REMOVED)
    token.ciphertext = b""
    token.save(update_fields=["ciphertext"])


def refresh_account_profile(account: Account) -> None:
    """Read profile, costs and options again through any working token of the account.

    This also resumes a paused token once the plan is paid again (spec, Authentication 6).
    """
    token = token_vault.first_decryptable(
        account.tokens.usable().select_related("account").order_by("state_since")
    )
    if token is None or not claim_refresh(account):
        return
    # The first time a person waits for the voices. Later nobody waits, but the few requests in
    # ten minutes go before polls: behind them, on a busy token, the last would never be sent.
    lane = Priority.SETTLEMENT if account.options else Priority.PERSON
    grant = calls.acquire_permit(token, lane, PERMIT_TIMEOUT_S)
    requested_at = timezone.now()  # after the wait, because the answer includes charges during it
    profile = dict(
        response_parsing.as_mapping(calls.send_request(token, PROFILE_OPERATION, grant).data)
    )
    if is_profile_of_other_account(profile, account):
        return
    account.save_profile(profile, requested_at)
    for usable_token in account.tokens.usable():
        calls.change_token_state(usable_token, token_state_for(account))
        reassign_work(usable_token)
    account.costs = fetch_mapping(token, "credits.costs", lane) or account.costs
    account.save(update_fields=["costs"])
    if account.plan == AccountPlan.PAID:
        account.options = fetch_mapping(token, OPTIONS_OPERATION, lane) or account.options
        account.options_as_of = timezone.now()
        account.save(update_fields=["options", "options_as_of"])
        refresh_clip_models(account, token, lane)
    publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)


def refresh_clip_models(account: Account, token: Token, lane: Priority) -> None:
    """Read the text-to-video models, which clips are made with and whose menus clip engines have.

    Without an answer the stored ones stay. They do not depend on the options: a plan may have
    clips and no clip engines.
    """
    try:
        answer = calls.call_upstream(token, CLIP_MODELS_OPERATION, lane, patience=PERMIT_TIMEOUT_S)
    except (errors.UpstreamError, rate_limiter.RateLimitExhausted):
        return
    rows = answer.data
    if isinstance(rows, dict):  # the spec does not show the body
        rows = next((value for value in rows.values() if isinstance(value, list)), None)
    if isinstance(rows, list) and rows:
        account.clip_models = [row for row in rows if isinstance(row, dict)]
        account.save(update_fields=["clip_models"])


def is_profile_of_other_account(profile: dict[str, Any], account: Account) -> bool:
    """Whether the profile belongs to another account: nothing of it is stored (pitfall 2)."""
    return isinstance(id := profile.get("id"), int) and id != account.upstream_id


def fetch_mapping(token: Token, name: str, lane: Priority) -> dict[str, Any]:
    """The object that a read returns, or an empty one if the answer has another type."""
    return dict(
        response_parsing.as_mapping(
            calls.call_upstream(token, name, lane, patience=PERMIT_TIMEOUT_S).data
        )
    )


def claim_refresh(account: Account) -> bool:
    """Whether this process may refresh: three tokens of one account do not read it three times."""
    now = timezone.now()
    lately = Q(refreshed_at__gt=now - MIN_REFRESH_INTERVAL)
    return bool(Account.objects.filter(~lately, pk=account.pk).update(refreshed_at=now))
