"""The answers to what the portal refuses before anything is sent, in the spec's error shape."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.call import Call
from proxyapi.refusals import (
    AgentCreditsUsedUp,
    AlreadyInProgress,
    ChargesStopped,
    LimitExceeded,
    NotEnoughCredits,
    Refusal,
    TokenRefused,
    TooManyAttempts,
)
from proxyapi.throttle import CounterUnavailable
from proxyapi.upstream.reply import Answer

# The first class that fits gives status and code.
STATUSES: tuple[tuple[type[Refusal], int, str], ...] = (
    (NotEnoughCredits, 402, "INSUFFICIENT-CREDITS"),
    (AgentCreditsUsedUp, 402, "ALLOWANCE-USED-UP"),
    (LimitExceeded, 402, "BUDGET-EXCEEDED"),
    (ChargesStopped, 403, "CHARGES-STOPPED"),
    (TokenRefused, 403, "TOKEN-REFUSED"),
    (AlreadyInProgress, 409, "ALREADY-IN-PROGRESS"),
    (CounterUnavailable, 503, "RATE-LIMITER-UNAVAILABLE"),
    (TooManyAttempts, 429, "RATE-LIMITED"),
    (Refusal, 409, "NOT-POSSIBLE"),
)


def answer_of_refusal(refusal: GatewayRefusal | Refusal, call: Call | None) -> Answer:
    request_id = call.id if call else uuid4()
    if isinstance(refusal, Refusal):
        refusal = translate(refusal)
    return refusal.answer(request_id)


def translate(refusal: Refusal) -> GatewayRefusal:
    status, code = next(row[1:] for row in STATUSES if isinstance(refusal, row[0]))
    if refusal.needs_approval:  # a limit of the team
        status, code = 402, "BUDGET-EXCEEDED"
    details: dict[str, Any] = {}
    if isinstance(refusal, NotEnoughCredits):
        details = {"required": refusal.check.hold, "available": refusal.check.free}
    if isinstance(refusal, AgentCreditsUsedUp):
        amounts = {"required": refusal.needed, "available": refusal.left}
        details = {**amounts, "raise_url": refusal.url}
    headers = {}
    if isinstance(refusal, TooManyAttempts):
        headers = {"retry-after": str(max(1, refusal.wait_s))}
    return GatewayRefusal(status, code, refusal.sentence, headers=headers, details=details)
