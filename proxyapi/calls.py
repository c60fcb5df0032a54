"""The way to the upstream: allowance first, then the token for one call, then the record of it.

Nothing else in the project calls the upstream, but the check of a token that has no row yet
(`tokens.ask_who`), and that through here, too. What a call teaches about the token, the account and
the allowance is noted here, whoever asked.
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

from proxyapi import allowance, door, failpoints, heard, seal
from proxyapi.allowance import AllowanceUnknown, Grant, Lane, Pool
from proxyapi.events import Event, publish
from proxyapi.heirs import STOPPED, hand_over
from proxyapi.models import Call, CallOutcome, Plan, Token, TokenState
from proxyapi.upstream import errors
from proxyapi.upstream.catalog import CATALOG
from proxyapi.upstream.client import Client
from proxyapi.upstream.envelope import Files, Form
from proxyapi.upstream.reply import Allowance, Reply
from proxyapi.upstream.secret import Secret

log = logging.getLogger(__name__)
# From which states a token gets into each; removed is the end.
FROM = {
    TokenState.WORKING: (TokenState.PAUSED,),
    TokenState.PAUSED: (TokenState.WORKING,),
    TokenState.REVOKED: (TokenState.WORKING, TokenState.PAUSED),
    TokenState.REMOVED: (TokenState.WORKING, TokenState.PAUSED, TokenState.REVOKED),
}
# Operations with a limit beside the token's (spec, Limits).
POOLS = {
    "characters.preview": Pool.PREVIEWS,
    "faceless.scrape_images": Pool.SCRAPING,
    "faceless.scrape_script": Pool.SCRAPING,
    "url_to_video.scrape_images": Pool.SCRAPING,
    "url_to_video.scrape_script": Pool.SCRAPING,
}
WINDOW = 60.0  # seconds; the limit of a token counts in these
PLAN_ERRORS = (errors.SubscriptionRequired, errors.PaidSubscriptionRequired)
OUTCOMES = {
    errors.Outcome.NOT_SENT: CallOutcome.NOT_SENT,
    errors.Outcome.REFUSED: CallOutcome.REFUSED,
    errors.Outcome.UNKNOWN: CallOutcome.UNKNOWN,
}


class TokenShut(errors.NotSent):
    """Its seal does not open: the row was changed, or its key is gone."""

    code = "TOKEN-SHUT"
    sentence = "The stored token does not open. Nothing was sent. Add the token again."


class TokenGone(TokenShut):
    """It was removed while somebody here had its row in hand."""

    code = "TOKEN-GONE"
    sentence = "The token was removed meanwhile. Nothing was sent."


class TokenOfAnother(TokenShut):
    """The portal was pointed at another service since: this token is none of its."""

    code = "TOKEN-OF-ANOTHER"
    sentence = (
        "This token belongs to another address of the service than the portal uses now. "
        "Nothing was sent."
    )


LASTING = (errors.Refused, errors.Unsendable, TokenShut)  # the next call meets it as well
# It never left, which says nothing of the service.
OURS = (errors.Unsendable, errors.PoolTimedOut, TokenShut)


@lru_cache(maxsize=1)
def client() -> Client:
    return Client(settings.VIDEO_API_BASE_URL, methods=settings.VIDEO_API_METHODS)


def admit(token: Token, lane: Lane, patience: float = 0, operation: str = "") -> Grant:
    """Take one request from the token's allowance, waiting up to `patience` seconds; `send` wants
    the grant.

    An operation with a limit of its own takes one of that, too, and of neither while the other has
    none left. Raises `allowance.AllowanceExhausted`, `errors.Unauthorized` for a token that the
    service has refused before: nobody asks again with it (pitfall 88), or `TokenShut` for one that
    cannot be sent. Neither takes a request.
    """
    if token.state in (TokenState.REVOKED, TokenState.REMOVED):
        raise errors.Unauthorized()
    check_upstream(token)
    if not door.opens(token):
        raise TokenShut()
    store, until = allowance.connection(), time.monotonic() + patience
    if pool := POOLS.get(operation):
        allowance.await_pool(store, pool, token.account.bucket, patience)
        patience = max(0.0, until - time.monotonic())
    grant = allowance.wait_for(store, token.bucket, lane, patience)
    if pool:
        allowance.draw(store, pool, token.account.bucket)
    return grant


def call(token: Token, name: str, lane: Lane, *, patience: float = 0, **parts: Any) -> Reply:
    """Admit and send. Raises `errors.UpstreamError` or `allowance.AllowanceExhausted`."""
    return send(token, name, admit(token, lane, patience, name), **parts)


def send(
    token: Token,
    name: str,
    grant: Grant,
    *,
    path: Mapping[str, str | int] | None = None,
    query: Mapping[str, str | int] | None = None,
    json: Mapping[str, Any] | None = None,
    data: Form | None = None,
    files: Files | None = None,
    as_of: datetime | None = None,
) -> Reply:
    """Send the granted request once, and note what it taught. Raises `errors.UpstreamError`.

    `data` and `files` make it a form, `json` a JSON body. `as_of`: what the balance it tells is
    noted under, when its charge was sent; else when the request is.
    """
    sent_at, started = timezone.now(), time.monotonic()
    call = Call(vault_id=token.vault_id, token=token, operation=name, sent_at=sent_at)
    try:
        reply = client().call(
            name,
            opened(token),
            path=path,
            query=query,
            json=json,
            data=data,
            files=files,
            on_sent=lambda: was_sent(token, name, grant),
        )
    except OURS:
        raise
    except errors.UpstreamError as error:
        call.outcome, call.status = OUTCOMES[error.outcome], error.status
        call.code = error.code[:60]
        with beside_the_answer():
            note_failure(token, error)
        raise
    else:
        call.outcome, call.status = CallOutcome.ANSWERED, reply.status
        call.allowance_left = reply.allowance.remaining if reply.allowance else None
        with beside_the_answer():
            note_answer(token, reply, as_of or sent_at)
        return reply
    finally:
        if call.outcome:
            call.milliseconds = round((time.monotonic() - started) * 1000)
            with beside_the_answer():
                call.save()
            heard.tell(token.vault_id, token.pk, answered=call.is_answered)


def was_sent(token: Token, name: str, grant: Grant) -> None:
    if CATALOG[name].charging:
        failpoints.reach("sent")
    with suppress(AllowanceUnknown):
        allowance.sent(allowance.connection(), token.bucket, grant)


@contextmanager
def beside_the_answer() -> Iterator[None]:
    """What is noted here is known again by the next call. The answer is not: a connection to the
    database that broke meanwhile must not lose it, and the caller gets a fresh one."""
    try:
        yield
    except DatabaseTrouble:
        if connection.in_atomic_block:
            raise
        log.exception("what a call taught was not noted")
        connection.close()


def note_answer(token: Token, reply: Reply, as_of: datetime) -> None:
    note_allowance(token, reply.allowance)
    if reply.credits and reply.credits.remaining is not None:
        token.account.note_balance(reply.credits.remaining, as_of)
        publish(token.vault_id, Event.ACCOUNT, token.account_id)


def check_upstream(token: Token) -> None:
    """Raise `TokenOfAnother` for a token that was sealed for another upstream than the one in
    use."""
    if not token.account.is_of_current_upstream:
        raise TokenOfAnother()


def opened(token: Token) -> Secret:
    """The value, only for the upstream it was sealed for. As it is now: a removed token is not used
    by who read it before."""
    check_upstream(token)
    if Token.objects.filter(pk=token.pk, state=TokenState.REMOVED).exists():
        raise TokenGone()
    try:
        return door.opened(token)
    except seal.SealError:
        raise TokenShut() from None


def note_allowance(token: Token, seen: Allowance | None) -> None:
    """Learn from the headers of any answer, refusals too.

    Without Redis nothing is learned, and what was answered counts all the same.
    """
    if seen:
        with suppress(AllowanceUnknown):
            store = allowance.connection()
            allowance.correct(store, token.bucket, seen.limit, seen.remaining)


def note_limits(token: Token, error: errors.UpstreamError) -> None:
    note_allowance(token, error.allowance)
    if isinstance(error, errors.RateLimited):
        pause(token, error)


def note_failure(token: Token, error: errors.UpstreamError) -> None:
    note_limits(token, error)
    if isinstance(error, errors.Unauthorized):
        change_state(token, TokenState.REVOKED)
    elif isinstance(error, PLAN_ERRORS):
        note_plan(token, error)
        change_state(token, TokenState.PAUSED)


def pause(token: Token, error: errors.RateLimited) -> None:
    """Grant nothing of what is used up. With requests left that is the limit of this operation
    alone, for the whole account (pitfall 27).

    With none left it may be either: then the time that was told is the operation's, and the token's
    own window is over in a minute.
    """
    told, store = error.wait(WINDOW), allowance.connection()
    pool = POOLS.get(error.operation.name) if error.operation else None
    with suppress(AllowanceUnknown):
        if pool:
            allowance.pause(store, pool.of(token.account.bucket), told)
        if error.token_wide:
            allowance.pause(store, token.bucket, min(told, WINDOW) if pool else told)


def note_plan(token: Token, error: errors.UpstreamError) -> None:
    """The plan changed since the profile was read; it is read again sooner from now on."""
    trial = isinstance(error, errors.PaidSubscriptionRequired)
    token.account.plan = Plan.TRIAL if trial else Plan.NONE
    token.account.save(update_fields=["plan"])
    publish(token.vault_id, Event.ACCOUNT, token.account_id)


def change_state(token: Token, state: TokenState) -> None:
    """A token stops or works again; everybody who shows it hears of it, and another token of its
    owner's goes on with what it did.

    By conditional update: what another process knows by now is not undone by what we knew.
    """
    now = timezone.now()
    rows = Token.objects.filter(pk=token.pk, state__in=FROM[state])
    if rows.update(state=state, state_since=now):
        token.state, token.state_since = state, now
        if state in STOPPED:
            hand_over(token)
        publish(token.vault_id, Event.TOKEN, token.pk)
