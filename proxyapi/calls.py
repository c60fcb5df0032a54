"""Calls: the only way to send a request to the upstream.

Each call takes a permit from the rate limiter, decrypts the token for this one request, records an
`ApiCall`, and stores what the answer says about the token, the account and the rate limit. A token
that has no row yet is checked by `tokens.fetch_profile`, which also calls through here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.db import connection
from django.utils import timezone

from proxyapi import failpoints, rate_limiter, redis_client
from proxyapi.clock_offset import learn_clock_offset
from proxyapi.credentials import encryption, token_vault
from proxyapi.events import EventType, publish_event
from proxyapi.models import AccountPlan, ApiCall, CallOutcome, Job, Token, TokenState
from proxyapi.operations import OPERATIONS, RatePool, get_operation
from proxyapi.rate_limiter import Permit, Priority, RateLimiterUnavailable
from proxyapi.service_status import announce_reachability
from proxyapi.token_failover import STOPPED_TOKEN_STATES, fail_over_token
from proxyapi.upstream import errors
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.envelope import FormFields, UploadFiles
from proxyapi.upstream.record_identity import is_foreign_record
from proxyapi.upstream.reply import RateLimitStatus, Reply
from proxyapi.upstream.secret import Secret

log = logging.getLogger(__name__)
# The states from which a token can change to each state; `removed` is final.
TOKEN_TRANSITIONS = {
    TokenState.WORKING: (TokenState.PAUSED,),
    TokenState.PAUSED: (TokenState.WORKING,),
    TokenState.REVOKED: (TokenState.WORKING, TokenState.PAUSED),
    TokenState.REMOVED: (TokenState.WORKING, TokenState.PAUSED, TokenState.REVOKED),
}
SLOW_CALL_S = 60.0  # seconds; a call with a longer timeout is slow
TOKEN_WINDOW_S = 60.0  # seconds; the window of a token's rate limit
SCRAPING_PAUSE_S = 15.0  # seconds; of the scraping pool, if its 429 has no Retry-After
PLAN_ERRORS = (errors.SubscriptionRequired, errors.PaidSubscriptionRequired)
CALL_OUTCOMES = {
    errors.ErrorOutcome.NOT_SENT: CallOutcome.NOT_SENT,
    errors.ErrorOutcome.REFUSED: CallOutcome.REFUSED,
    errors.ErrorOutcome.UNKNOWN: CallOutcome.UNKNOWN,
}


class TokenUnusable(errors.NotSent):
    """The ciphertext cannot be decrypted: the row was changed, or its key is missing."""

    code = "TOKEN-UNREADABLE"
    sentence = "The stored token cannot be decrypted. Nothing was sent. Add the token again."


class TokenRemoved(TokenUnusable):
    """The token was removed after this process had read its row."""

    code = "TOKEN-REMOVED"
    sentence = "The token was removed. Nothing was sent."


class TokenOfOtherUpstream(TokenUnusable):
    """The portal now uses another upstream than the one this token belongs to."""

    code = "TOKEN-OF-OTHER-UPSTREAM"
    sentence = (
        "This token belongs to a different address of the service than the one in use. Nothing "
        "was sent."
    )


# The next call would fail in the same way.
PERMANENT_ERRORS = (
    errors.Refused,
    errors.UnsendableRequest,
    TokenUnusable,
)
# The request was never sent, so the error is no evidence about the upstream.
LOCAL_ERRORS = (errors.UnsendableRequest, errors.PoolTimedOut, TokenUnusable)


@lru_cache(maxsize=1)
def upstream_client() -> UpstreamClient:
    return UpstreamClient(
        settings.VIDEO_API_BASE_URL, OPERATIONS, methods=settings.VIDEO_API_METHODS
    )


def acquire_permit(
    token: Token, lane: Priority, patience: float = 0, operation: str = ""
) -> Permit:
    """Take one request from the token's rate limit, waiting up to `patience` seconds;
    `send_request` needs the permit.

    An operation with its own limit takes one request from that as well, and from neither while the
    other is used up. Raises `RateLimitExhausted`; `errors.Unauthorized` for a token that the
    service has refused before, so that it is not sent again (pitfall 88); `TokenUnusable` for a
    token that cannot be sent. The errors take no request.
    """
    if token.state in (TokenState.REVOKED, TokenState.REMOVED):
        raise errors.Unauthorized()
    check_token_upstream(token)
    if not token_vault.can_decrypt(token):
        raise TokenUnusable()
    store, until = redis_client.connect_redis(), time.monotonic() + patience
    pool = get_operation(operation).rate_pool if operation else None
    if pool:
        rate_limiter.wait_for_pool(store, pool, token.account.bucket, patience)
        patience = max(0.0, until - time.monotonic())
    grant = rate_limiter.acquire(store, token.bucket, lane, patience)
    if pool:
        rate_limiter.take_from_pool(store, pool, token.account.bucket)
    return grant


def priority_of(job: Job) -> Priority:
    """The class of the requests that prepare a job and send its charges: people go before what a
    batch makes."""
    return Priority.BATCH if job.is_unattended else Priority.PERSON


def call_upstream(
    token: Token, name: str, lane: Priority, *, patience: float = 0, **parts: Any
) -> Reply:
    """Acquire a permit and send. Raises `errors.UpstreamError` or `RateLimitExhausted`."""
    return send_request(token, name, acquire_permit(token, lane, patience, name), **parts)


def send_request(
    token: Token,
    name: str,
    grant: Permit,
    *,
    path: Mapping[str, str | int] | None = None,
    query: Mapping[str, str | int] | None = None,
    json: Mapping[str, Any] | None = None,
    data: FormFields | None = None,
    files: UploadFiles | None = None,
    as_of: datetime | None = None,
) -> Reply:
    """Send the permitted request once and store what the answer says about token and account.
    `as_of` (default: now) dates the balance in the answer. Raises `errors.UpstreamError`."""
    sent_at, started = timezone.now(), time.monotonic()
    call = new_call_record(token, name, grant, sent_at)
    try:
        secret = decrypt_for_call(token)
        release_connection(name)
        reply = upstream_client().call(
            name,
            secret,
            path=path,
            query=query,
            json=json,
            data=data,
            files=files,
            on_sent=lambda: handle_request_sent(token, name, grant),
        )
        check_record_identity(name, path, reply)
    except LOCAL_ERRORS:
        raise
    except errors.UpstreamError as error:
        call.outcome = CALL_OUTCOMES[error.outcome]
        call.status, call.code = error.status, error.code[:60]
        with best_effort_writes():
            learn_from_error(token, error)
        raise
    else:
        call.outcome, call.status = CallOutcome.ANSWERED, reply.status
        call.allowance_left = reply.rate_limit.remaining if reply.rate_limit else None
        with best_effort_writes():
            learn_from_reply(token, reply, sent_at, as_of or sent_at)
        return reply
    finally:
        if call.outcome:
            call.milliseconds = round((time.monotonic() - started) * 1000)
            with best_effort_writes():
                call.save()
            announce_reachability(token.tenant_id, token.pk, answered=call.is_answered)


def release_connection(name: str) -> None:
    """Let a call that charges or may take minutes keep no database connection, so that many can
    wait at once without using up the pool."""
    operation = get_operation(name)
    is_long = operation.charging or operation.timeout > SLOW_CALL_S
    if is_long and not connection.in_atomic_block:
        connection.close()


def check_record_identity(name: str, path: Mapping[str, str | int] | None, reply: Reply) -> None:
    """Raise `errors.ForeignRecord` if the answer is the record of another resource."""
    operation = get_operation(name)
    if is_foreign_record(operation, path or {}, reply.data):
        raise errors.ForeignRecord(operation, errors.ErrorDetails(reply.status))


def new_call_record(token: Token, name: str, grant: Permit, sent_at: datetime) -> ApiCall:
    """Return the record of a call before its outcome is known; it is not saved."""
    return ApiCall(
        tenant_id=token.tenant_id,
        token=token,
        operation=name,
        sent_at=sent_at,
        priority=grant.priority,
    )


def handle_request_sent(token: Token, name: str, grant: Permit) -> None:
    if get_operation(name).charging:
        failpoints.hit_failpoint("sent")
    with suppress(RateLimiterUnavailable):
        rate_limiter.restamp_late_permit(redis_client.connect_redis(), token.bucket, grant)


@contextmanager
def best_effort_writes() -> Iterator[None]:
    """Bookkeeping that the next call repeats: a database error here must not lose the upstream's
    answer, and the caller gets a fresh connection."""
    try:
        yield
    except DatabaseTrouble:
        if connection.in_atomic_block:
            raise
        log.exception("the bookkeeping of a call was not saved")
        connection.close()


def learn_from_reply(token: Token, reply: Reply, sent_at: datetime, as_of: datetime) -> None:
    learn_rate_limit(token, reply.rate_limit)
    learn_clock_offset(reply.served_at, sent_at, timezone.now())
    if reply.credits and reply.credits.remaining is not None:
        token.account.update_reported_balance(reply.credits.remaining, as_of)
        publish_event(token.tenant_id, EventType.ACCOUNT, token.account_id)


def check_token_upstream(token: Token) -> None:
    """Raise `TokenOfOtherUpstream` if the token belongs to another upstream than the one in use."""
    if not token.account.is_of_current_upstream:
        raise TokenOfOtherUpstream()


def decrypt_for_call(token: Token) -> Secret:
    """Decrypt the current ciphertext, only for the upstream it belongs to: a process that read the
    row earlier must not use a token that was removed meanwhile."""
    check_token_upstream(token)
    if Token.objects.filter(pk=token.pk, state=TokenState.REMOVED).exists():
        raise TokenRemoved()
    try:
        return token_vault.decrypt_token(token)
    except encryption.EncryptionError:
        raise TokenUnusable() from None


def learn_rate_limit(token: Token, rate_limit: RateLimitStatus | None) -> None:
    """Apply the rate-limit headers of any answer, including refusals. Without Redis nothing is
    stored."""
    if rate_limit:
        with suppress(RateLimiterUnavailable):
            store = redis_client.connect_redis()
            rate_limiter.apply_rate_limit_headers(
                store, token.bucket, rate_limit.limit, rate_limit.remaining
            )


def learn_limits_from_error(token: Token, error: errors.UpstreamError) -> None:
    learn_rate_limit(token, error.allowance)
    if isinstance(error, errors.RateLimited):
        pause_after_rate_limit(token, error)


def learn_from_error(token: Token, error: errors.UpstreamError) -> None:
    learn_limits_from_error(token, error)
    is_charge = error.operation is not None and error.operation.charging
    if isinstance(error, errors.Unauthorized) and not is_charge:  # of a charge a free read decides
        change_token_state(token, TokenState.REVOKED)
    elif isinstance(error, PLAN_ERRORS) and error.outcome is errors.ErrorOutcome.REFUSED:
        mark_plan_lapsed(token, error)
        change_token_state(token, TokenState.PAUSED)


def pause_after_rate_limit(token: Token, error: errors.RateLimited) -> None:
    """Pause what is used up after a 429. If the token has requests left, it is the limit of this
    operation alone, for the whole account (pitfall 27).

    If none are left it may be either: Retry-After then applies to the operation, and the token's
    own window is over within a minute.
    """
    pool = get_operation(error.operation.name).rate_pool if error.operation else None
    is_scraping_alone = pool is RatePool.SCRAPING and not error.is_token_wide
    pause_s = error.retry_delay_s(SCRAPING_PAUSE_S if is_scraping_alone else TOKEN_WINDOW_S)
    store = redis_client.connect_redis()
    with suppress(RateLimiterUnavailable):
        if pool:
            rate_limiter.pause_bucket(store, pool.bucket_name(token.account.bucket), pause_s)
        if error.is_token_wide:
            rate_limiter.pause_bucket(
                store, token.bucket, min(pause_s, TOKEN_WINDOW_S) if pool else pause_s
            )


def mark_plan_lapsed(token: Token, error: errors.UpstreamError) -> None:
    """The plan changed after the profile was read; from now on the profile is read more often."""
    trial = isinstance(error, errors.PaidSubscriptionRequired)
    token.account.plan = AccountPlan.TRIAL if trial else AccountPlan.NONE
    token.account.save(update_fields=["plan"])
    publish_event(token.tenant_id, EventType.ACCOUNT, token.account_id)


def change_token_state(token: Token, state: TokenState) -> None:
    """Record that a token stopped or works again, publish it, and move the owner's work
    accordingly.

    A conditional update: a newer state stored by another process is not overwritten.
    """
    now = timezone.now()
    rows = Token.objects.filter(pk=token.pk, state__in=TOKEN_TRANSITIONS[state])
    changes: dict[str, Any] = {"state": state, "state_since": now}
    if state == TokenState.REVOKED:
        changes["refused_at"] = now
    if rows.update(**changes):
        token.state, token.state_since = state, now
        if state in STOPPED_TOKEN_STATES:
            fail_over_token(token)
        publish_event(token.tenant_id, EventType.TOKEN, token.pk)
