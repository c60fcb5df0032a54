"""Operations that are carried out, and answered as if they were not.

A proxy, a load balancer or a half-dead service answers in the place of the service, in each way
that HTTP has. Under a simulated clock: three minutes after the press nothing that was paid is
called uncharged, and in the end each press has exactly the one debit that it caused.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from proxyapi import rate_limiter
from proxyapi.models import Charge, ChargeState, Token, TokenState
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox
from tests.proxyapi.money.late_arrivals import open_sandbox, press_button, run_beat, taken_credits
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount

BEAT_S = 10
TRUE_WITHIN = timedelta(minutes=3)
SETTLED_WITHIN = timedelta(minutes=16)
NEVER_BUSY = {"code": "GEN-FORBIDDEN", "message": "The video is processing currently."}
FOREIGN_RECORD = {"id": 987654, "video": {"status": "rendering"}, "status": "processing"}


def coded(status: int, code: str, **more: Any) -> dict[str, Any]:
    """An answer as the spec shows it."""
    error = {"code": code, "message": "No.", **more}
    return {"code": status, "body": {"message": "No.", "status": status, "error": error}}


def raw(status: int, body: object = "", **headers: str) -> dict[str, Any]:
    return {"code": status, "body": body, "headers": headers or None}


SLOW_DOWN = {"message": "Too many requests.", "status": 429}
FALSE_ANSWERS: Mapping[str, dict[str, Any]] = {
    "400": coded(400, "GEN-WRONG-ARGS"),
    "400 without a code": raw(400, {"message": "No."}),
    "401": coded(401, "GEN-UNAUTHORIZED"),
    "401 without a code": raw(401, {"message": "Unauthenticated."}),
    "402": coded(402, "INSUFFICIENT-CREDITS", required=412, available=388),
    "402 without a body": raw(402),
    "403": coded(403, "GEN-FORBIDDEN"),
    "403 processing": raw(403, {"message": "No.", "status": 403, "error": NEVER_BUSY}),
    "403 no plan": coded(403, "SUBSCRIPTION-REQUIRED"),
    "403 page": {"action": "html", "code": 403},
    "404": coded(404, "GEN-NOT-FOUND"),
    "404 page": {"action": "html", "code": 404},
    "404 text": raw(404, '"Not Found!"'),
    "405": raw(405, {"message": "No.", "status": 405}),
    "409": coded(409, "CONFLICT"),
    "409 page": {"action": "html", "code": 409},
    "422": raw(422, {"message": "Invalid.", "errors": {"title": ["No."]}}),
    "422 without fields": raw(422, {"message": "Invalid."}),
    "422 half": raw(422, '{"message": "Invalid.", "errors": {"ti'),
    "429": raw(429, SLOW_DOWN, **{"Retry-After": "2"}),
    "429 without Retry-After": raw(429, SLOW_DOWN),
    "429 unreadable": raw(429, SLOW_DOWN, **{"Retry-After": "soon"}),
    "429 page": {"action": "html", "code": 429},
    "500": coded(500, "GEN-API-ERROR"),
    "502": {"action": "html", "code": 502},
    "503": raw(503, {"message": "Maintenance."}, **{"Retry-After": "1"}),
    "504": {"action": "html", "code": 504},
    "202 empty": raw(202),
    "202 page": {"action": "html", "code": 202},
    "202 half": {"action": "malformed_json"},
    "202 without meta": {"action": "drop_meta"},
    "202 of another": raw(202, {"message": "OK", "status": 202, "data": FOREIGN_RECORD}),
    "200 null": raw(200, {"message": "OK", "status": 200, "data": None}),
}


def check_false_answer(sandbox: InProcessSandbox, name: str, operation: str) -> list[str]:
    """Press, have every sending carried out and answered so, and say what is wrong."""
    verdict = ChargeAudit()
    with open_sandbox(sandbox) as (stage, _), pytest.MonkeyPatch.context() as patch:
        patch.setattr(rate_limiter, "pause_bucket", lambda *_: None)  # it would last in real time
        intent = INTENT_MAKERS[operation](stage)
        already = len(taken_credits(sandbox))
        options = {"action": "status", "times": 5, **FALSE_ANSWERS[name]}
        stage.set_fault(path_pattern(operation), options.pop("action"), "after", **options)
        pressed_at, charge = sandbox.now(), press_button(intent)
        while sandbox.now() < pressed_at + SETTLED_WITHIN and not charge.is_charged:
            watch_beat(sandbox, stage, charge)
            is_denied = charge.state == ChargeState.REFUSED and taken_credits(sandbox)[already:]
            if is_denied and sandbox.now() > pressed_at + TRUE_WITHIN:
                verdict.false_failed.append(f"{name} {operation}: {charge.reason}")
                break
        taken = taken_credits(sandbox)[already:]
        if len(taken) > 1:
            verdict.double.append(f"{name} {operation}: it took {taken}")
        verdict.judge_charge(charge, sum(taken, start=type(charge.hold)(0)), f"{name} {operation}")
        verdict.check_account(stage, f"{name} {operation}")
    return verdict.problems


def watch_beat(sandbox: InProcessSandbox, stage: SandboxAccount, charge: Charge) -> None:
    """A token that a false 401 had refused is added again by its owner."""
    run_beat(sandbox, stage, BEAT_S)
    Token.objects.filter(state=TokenState.REVOKED).update(state=TokenState.WORKING)
    charge.refresh_from_db()
