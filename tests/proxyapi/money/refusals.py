"""Every error that the service can answer to a charging call, and what it makes of the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from proxyapi.charges import admit_charge
from proxyapi.models import Charge, ChargeState, Token, TokenState
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, carried


class Refusal(NamedTuple):
    status: int
    code: str
    words: str  # part of the sentence that a person reads
    token: TokenState = TokenState.WORKING


PAUSED, REVOKED = TokenState.PAUSED, TokenState.REVOKED
REFUSALS: Mapping[str, Refusal] = {
    "400": Refusal(400, "GEN-WRONG-ARGS", "did not understand the request"),
    "401": Refusal(401, "GEN-UNAUTHORIZED", "does not know this token", REVOKED),
    "402": Refusal(402, "INSUFFICIENT-CREDITS", "It needs 412 cr, the account has 388"),
    "403 forbidden": Refusal(403, "GEN-FORBIDDEN", "does not allow this"),
    "403 no plan": Refusal(403, "SUBSCRIPTION-REQUIRED", "no active plan", PAUSED),
    "403 trial": Refusal(403, "PAID-SUBSCRIPTION-REQUIRED", "on paid plans only", PAUSED),
    "403 e-mail": Refusal(403, "EMAIL-NOT-VERIFIED", "is not verified"),
    "403 feature": Refusal(403, "FEATURE-NOT-ALLOWED", "does not include this"),
    "403 limit": Refusal(403, "REACH-PLAN-LIMIT", "limit of the account's plan"),
    "403 storage": Refusal(403, "REACH-PLAN-STORAGE-LIMIT", "limit of the account's plan"),
    "403 publish": Refusal(403, "REACH-PLAN-PUBLISH-LIMIT", "limit of the account's plan"),
    "404": Refusal(404, "GEN-NOT-FOUND", "shows no such thing"),
    "409": Refusal(409, "CONFLICT", "does not fit the present state"),
    "422": Refusal(422, "INVALID", "does not accept the title: “No.”"),
    "429": Refusal(429, "GEN-TOO-MANY-REQUESTS", ""),
    "500": Refusal(500, "GEN-API-ERROR", "never charged"),
    "503": Refusal(503, "GEN-API-ERROR", "never charged"),
}


def refused(stage: Stage, name: str, operation: str) -> str:
    """Have an operation refused; what is wrong with what became of it, or nothing."""
    refusal, intent = REFUSALS[name], OPERATIONS[operation](stage)
    already = stage.spent()
    stage.fault(path_of(operation), "status", code=refusal.status, **said(refusal))
    charge = carried(admit_charge(intent))
    wrong = problem(charge, refusal)
    if refusal.status != 429 and stage.spent() != already:
        wrong = "it was charged"
    token = Token.objects.get(pk=stage.token.pk)
    if token.state != refusal.token:
        wrong = f"the token is {token.state}"
    Token.objects.filter(pk=token.pk).update(state=TokenState.WORKING)
    stage.token.refresh_from_db()
    return f"{operation} {name}: {wrong}" if wrong else ""


def said(refusal: Refusal) -> dict[str, Any]:
    error: dict[str, Any] = {"code": refusal.code, "message": "No."}
    if refusal.status == 402:
        error |= {"required": 412, "available": 388}
    body: dict[str, Any] = {"message": "No.", "status": refusal.status, "error": error}
    if refusal.status == 422:
        body = {"message": "The given data was invalid.", "errors": {"title": ["No."]}}
    return {"body": body, "headers": {"Retry-After": "1"} if refusal.status == 429 else None}


def problem(charge: Charge, refusal: Refusal) -> str:
    if refusal.status == 429:
        return "" if charge.is_charged else f"it is {charge.state}: {charge.reason}"
    if charge.state != ChargeState.REFUSED or charge.cost is not None:
        return f"it is {charge.state} at {charge.cost}: {charge.reason}"
    if refusal.words not in charge.reason:
        return f"it says: {charge.reason}"
    held = charge.account.held_credits()
    return f"{held} are held" if held else ""
