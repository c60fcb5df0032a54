"""Every error that the service can answer to a charging call, and what it makes of the token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from proxyapi.models import Charge, ChargeState, Token, TokenState
from tests.admission import admit_charge
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount, work_until_settled


class ErrorResponse(NamedTuple):
    status: int
    code: str
    words: str  # part of the sentence that a person reads
    token: TokenState = TokenState.WORKING


PAUSED = TokenState.PAUSED
ERROR_RESPONSES: Mapping[str, ErrorResponse] = {
    "400": ErrorResponse(400, "GEN-WRONG-ARGS", "did not understand the request"),
    # A read with the same token works, so the token does.
    "401": ErrorResponse(401, "GEN-UNAUTHORIZED", "does not recognize this token"),
    "402": ErrorResponse(402, "INSUFFICIENT-CREDITS", "It needs 412 cr; the account has 388"),
    "403 forbidden": ErrorResponse(403, "GEN-FORBIDDEN", "does not allow this"),
    "403 no plan": ErrorResponse(403, "SUBSCRIPTION-REQUIRED", "no active plan", PAUSED),
    "403 trial": ErrorResponse(403, "PAID-SUBSCRIPTION-REQUIRED", "on paid plans only", PAUSED),
    "403 e-mail": ErrorResponse(403, "EMAIL-NOT-VERIFIED", "is not verified"),
    "403 feature": ErrorResponse(403, "FEATURE-NOT-ALLOWED", "does not include this"),
    "403 limit": ErrorResponse(403, "REACH-PLAN-LIMIT", "limit of the account's plan"),
    "403 storage": ErrorResponse(403, "REACH-PLAN-STORAGE-LIMIT", "limit of the account's plan"),
    "403 publish": ErrorResponse(403, "REACH-PLAN-PUBLISH-LIMIT", "limit of the account's plan"),
    "404": ErrorResponse(404, "GEN-NOT-FOUND", "did not find this"),
    "409": ErrorResponse(409, "CONFLICT", "not possible in the current state"),
    "422": ErrorResponse(422, "INVALID", "does not accept the title: “No.”"),
    "429": ErrorResponse(429, "GEN-TOO-MANY-REQUESTS", ""),
    "500": ErrorResponse(500, "GEN-API-ERROR", "never charged"),
    "503": ErrorResponse(503, "GEN-API-ERROR", "never charged"),
}


def check_error_response(stage: SandboxAccount, name: str, operation: str) -> str:
    """Have an operation refused; what is wrong with what became of it, or nothing."""
    refusal, intent = ERROR_RESPONSES[name], INTENT_MAKERS[operation](stage)
    already = stage.spent_credits()
    stage.set_fault(path_pattern(operation), "status", code=refusal.status, **error_body(refusal))
    charge = work_until_settled(admit_charge(intent))
    wrong = find_problem(charge, refusal)
    if refusal.status != 429 and stage.spent_credits() != already:
        wrong = "it was charged"
    token = Token.objects.get(pk=stage.token.pk)
    if token.state != refusal.token:
        wrong = f"the token is {token.state}"
    Token.objects.filter(pk=token.pk).update(state=TokenState.WORKING)
    stage.token.refresh_from_db()
    return f"{operation} {name}: {wrong}" if wrong else ""


def error_body(refusal: ErrorResponse) -> dict[str, Any]:
    error: dict[str, Any] = {"code": refusal.code, "message": "No."}
    if refusal.status == 402:
        error |= {"required": 412, "available": 388}
    body: dict[str, Any] = {"message": "No.", "status": refusal.status, "error": error}
    if refusal.status == 422:
        body = {"message": "The given data was invalid.", "errors": {"title": ["No."]}}
    return {"body": body, "headers": {"Retry-After": "1"} if refusal.status == 429 else None}


def find_problem(charge: Charge, refusal: ErrorResponse) -> str:
    if refusal.status == 429:
        return "" if charge.is_charged else f"it is {charge.state}: {charge.reason}"
    if charge.state != ChargeState.REFUSED or charge.cost is not None:
        return f"it is {charge.state} at {charge.cost}: {charge.reason}"
    if refusal.words not in charge.reason:
        return f"it says: {charge.reason}"
    held = charge.account.held_credits()
    return f"{held} are held" if held else ""
