"""Who calls: the API key of a request, and what it may do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.utils import timezone
from starlette.requests import Request

from proxyapi import throttle
from proxyapi.gateway import keys
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.call import Call, waiting_time
from proxyapi.gateway.team_rules import team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.models import ApiKey, KeyScope
from proxyapi.operations import EVIDENCE_READS, ExecutionEvidence, Operation
from proxyapi.refusals import Refusal, TooManyAttempts

FindKey = Callable[[str, datetime], ApiKey | None]
LAST_USE_PRECISION = timedelta(minutes=1)  # so that not every request writes the row
CREDITS_AREAS = ("top_up",)
CREDITS_OPERATIONS = (EVIDENCE_READS[ExecutionEvidence.LEDGER],)
MISSING_KEY = "Send an API key of Reelroom as Authorization: Bearer rr_live_…"
UNKNOWN_KEY = "This API key does not exist, has expired, or was revoked."
KEY_PAUSED = "This API key is paused. It can read, and changes or charges nothing."
WRONG_ADDRESS = "This API key is not accepted from this IP address."
TOO_MANY_REQUESTS = "This API key may send no more requests for {wait} s. Nothing was sent."
MAX_SLEEP_S = 0.5
SCOPE_MISSING = "This API key lacks the scope “{scope}”."


def scope_of(operation: Operation) -> KeyScope:
    if operation.area in CREDITS_AREAS or operation.name in CREDITS_OPERATIONS:
        return KeyScope.CREDITS
    if operation.charging:
        return KeyScope.RENDER
    return KeyScope.READ if operation.method == "GET" else KeyScope.CREATE


def bearer_value(request: Request) -> str:
    """The key of a request. Raises `GatewayRefusal` unless there is exactly one."""
    values = request.headers.getlist("authorization")
    scheme, _, value = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    if scheme.lower() != "bearer" or not value:
        raise GatewayRefusal(401, "GEN-UNAUTHORIZED", MISSING_KEY)
    return value


async def begin_call(request: Request) -> Call:
    """The call of a request whose key is accepted. Raises `GatewayRefusal`."""
    return await in_thread(read_call, request)


def read_call(request: Request) -> Call:
    """As `begin_call`."""
    client_ip = team_rules().client_ip(request.scope)
    key = authenticate(bearer_value(request), client_ip)
    return Call(key, client_ip, waiting_time(request.headers.get("prefer", "")))


def begin_operation(
    request: Request, operation: Operation
) -> tuple[Call, GatewayRefusal | Refusal | None]:
    """As `begin_call`, and why the call may not do this, with which it is answered; the request is
    counted under its key. All in one thread, since a change of threads takes as long as a query."""
    call = read_call(request)
    try:
        check_call(call, operation)
        call.limit_wait_s = count_request(call)
    except (GatewayRefusal, Refusal) as refusal:
        return call, refusal
    return call, None


def authenticate(value: str, client_ip: str, find: FindKey = keys.find_key) -> ApiKey:
    """The key that `find` has for this value, if it is accepted from this address. Raises
    `GatewayRefusal`."""
    now = timezone.now()
    key = find(value, now)
    if key is None:
        raise GatewayRefusal(401, "GEN-UNAUTHORIZED", UNKNOWN_KEY)
    if not key.accepts_address(client_ip):
        raise GatewayRefusal(403, "IP-ADDRESS-REFUSED", WRONG_ADDRESS)
    if key.last_used_at is None or key.last_used_at < now - LAST_USE_PRECISION:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key


def check_call(call: Call, operation: Operation) -> None:
    """Let the call do this, on the token that its key runs on. Raises `GatewayRefusal` or
    `Refusal`."""
    check_key(call.key, scope_of(operation), changes=operation.method != "GET")
    team_rules().check_access(call.key, operation)
    call.token = team_rules().find_token(call.key)


def check_key(key: ApiKey, scope: KeyScope, *, changes: bool) -> None:
    """Raise `GatewayRefusal` if the key lacks the scope, or is paused and this changes
    something."""
    if not key.has_scope(scope):
        message = SCOPE_MISSING.format(scope=scope)
        raise GatewayRefusal(403, "SCOPE-MISSING", message, details={"scope": scope})
    if key.paused_at is not None and changes:
        raise GatewayRefusal(403, "KEY-PAUSED", KEY_PAUSED)


async def wait_for_key_limit(call: Call) -> None:
    """Count the request, unless it was, and wait while the key has used up its requests of a
    minute. Raises `TooManyAttempts` if the time is too short."""
    while call.limit_wait_s is None or call.limit_wait_s > 0:
        if call.limit_wait_s:
            await asyncio.sleep(min(call.limit_wait_s, MAX_SLEEP_S))
        call.limit_wait_s = await in_thread(count_request, call)


def count_request(call: Call) -> float:
    """Count the request under its key and return 0; or the seconds until the key may send another
    one. Raises `TooManyAttempts` if the call does not wait so long."""
    limit = call.key.requests_per_minute
    if limit is None:
        return 0
    try:
        throttle.count_attempt({f"api-key:{call.key.pk}": limit}, TOO_MANY_REQUESTS)
    except TooManyAttempts as error:
        if time.monotonic() + error.wait_s > call.until:
            raise
        return error.wait_s or MAX_SLEEP_S
    return 0
