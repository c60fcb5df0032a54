"""Send a free request to the service and give its answer back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from proxyapi import calls
from proxyapi.gateway.answers import GatewayRefusal, own_answer, passed_on
from proxyapi.gateway.call import Call
from proxyapi.gateway.jobs import store_created_job
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.gateway.threads import in_thread
from proxyapi.gateway.turns import Turns
from proxyapi.rate_limiter import Permit, Priority, RateLimiterUnavailable, RateLimitExhausted
from proxyapi.upstream import errors
from proxyapi.upstream.reply import Answer, Reply


class Service:
    """The service, as scripts reach it: each request takes its turn."""

    def __init__(self, turns: Turns) -> None:
        self.turns = turns

    async def forward(self, call: Call, request: ServiceRequest) -> Answer:
        """The service's answer to a free request, a refusal too. Raises `GatewayRefusal` if there
        is none."""
        try:
            reply = await self.send(call, request)
        except errors.UpstreamError as error:
            return answer_of_error(error)
        if request.operation.creates:
            call.job = await in_thread(
                store_created_job,
                call.key,
                call.token,
                request.operation,
                reply.data,
                request.fields or {},
            )
        return passed_on(reply.answer) if reply.answer else own_answer(reply.status, {})

    async def fetch_data(self, call: Call, request: ServiceRequest) -> Any:
        """`data` of a free read. Raises `errors.UpstreamError` and `GatewayRefusal`."""
        return (await self.send(call, request)).data

    async def send(self, call: Call, request: ServiceRequest) -> Reply:
        """Send when it is the call's turn; after a 429, which proves that nothing was done, once
        more."""
        while True:
            try:
                if not self.turns.is_awaited(call.token):
                    reply = await in_thread(send_at_once, call, request)
                    if reply is not None:
                        return reply
                permit = await self.wait_for_turn(call, request.operation.name)
                return await in_thread(send_permitted, call, request, permit)
            except errors.RateLimited as error:
                if not error.retry_safe:
                    raise

    async def wait_for_turn(self, call: Call, operation: str) -> Permit:
        started = time.monotonic()
        try:
            with refusals_of_turn():
                return await self.turns.wait(call.key.pk, call.token, operation, call.until)
        finally:
            call.waited_s += time.monotonic() - started


def send_at_once(call: Call, request: ServiceRequest) -> Reply | None:
    """Send, if the token has a request left now; else None. In one thread: a change of threads
    takes as long as a query."""
    with refusals_of_turn():
        try:
            operation = request.operation.name
            permit = calls.acquire_permit(call.token, Priority.GATEWAY, operation=operation)
        except RateLimitExhausted:
            return None
    return send_permitted(call, request, permit)


def send_permitted(call: Call, request: ServiceRequest, permit: Permit) -> Reply:
    started = time.monotonic()
    call.service_requests += 1
    try:
        name = request.operation.name
        return calls.send_request(call.token, name, permit, **request.arguments)
    finally:
        call.service_s += time.monotonic() - started


@contextmanager
def refusals_of_turn() -> Iterator[None]:
    """Turn the errors of one who waits for a permit into `GatewayRefusal`: nothing was sent."""
    try:
        yield
    except RateLimiterUnavailable as error:
        headers = {"retry-after": "1"}
        raise GatewayRefusal(
            503, "RATE-LIMITER-UNAVAILABLE", error.user_message, headers=headers
        ) from None
    except RateLimitExhausted as error:
        raise rate_limited(error.wait, error.user_message) from None
    except errors.UpstreamError as error:
        raise not_sent(error) from None


def rate_limited(wait_s: float, message: str) -> GatewayRefusal:
    """429 with the seconds until the next attempt makes sense."""
    seconds = max(1, round(wait_s + 0.5))
    headers = {"retry-after": str(seconds), "x-ratelimit-reset": str(int(time.time()) + seconds)}
    return GatewayRefusal(429, "RATE-LIMITED", message, headers=headers)


def answer_of_error(error: errors.UpstreamError) -> Answer:
    """The service's own refusal. Raises `GatewayRefusal` if it gave no answer that can be passed
    on."""
    if error.answer is not None and not isinstance(error, errors.ResponseLost):
        return passed_on(error.answer)
    raise not_sent(error)


def not_sent(error: errors.UpstreamError) -> GatewayRefusal:
    """Our answer for one that the service did not give."""
    if isinstance(error, errors.Unauthorized):
        message = "The service refuses the token that this key runs on. Nothing was sent."
        return GatewayRefusal(403, "TOKEN-REFUSED", message)
    if isinstance(error, calls.TokenUnusable):
        return GatewayRefusal(403, error.code, error.user_message)
    if isinstance(error, errors.UnsendableRequest):
        return GatewayRefusal(400, "GEN-WRONG-ARGS", error.user_message)
    status = 503 if isinstance(error, errors.NotSent) else 502
    return GatewayRefusal(status, error.code, error.user_message)
