"""Operations that are carried out, and answered as if they were not.

A proxy, a load balancer or a half-dead service answers in the place of the service, in each way
that HTTP has. Under a simulated clock: three minutes after the press nothing that was paid is
called uncharged, and in the end each press has exactly the one debit that it caused.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from proxyapi import rate_limiter, tokens
from proxyapi.models import Charge, Token, TokenState
from proxyapi.operations import get_operation
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.in_process_sandbox import ENDLESS_HEADER, InProcessSandbox
from tests.proxyapi.money.late_arrivals import (
    advance_clock,
    open_sandbox,
    press_button,
    run_due_charges,
    sync_due_ledgers,
    taken_credits,
)
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
    "a header a second": raw(202, **{ENDLESS_HEADER: "1"}),
    "200 null": raw(200, {"message": "OK", "status": 200, "data": None}),
}


def check_false_answers(
    sandbox: InProcessSandbox, operation: str, names: Collection[str]
) -> list[str]:
    """In one world, press once for each answer, have every sending carried out and answered so, and
    say what is wrong."""
    verdict = ChargeAudit()
    with open_sandbox(sandbox) as (stage, _), pytest.MonkeyPatch.context() as patch:
        patch.setattr(rate_limiter, "pause_bucket", lambda *_: None)  # it would last in real time
        for name in names:
            press_and_judge(sandbox, stage, name, operation, verdict)
        verdict.check_account(stage, f"{operation}, {', '.join(names)}")
    return verdict.problems


def press_and_judge(
    sandbox: InProcessSandbox,
    stage: SandboxAccount,
    name: str,
    operation: str,
    verdict: ChargeAudit,
) -> None:
    restore_access(stage)
    intent = INTENT_MAKERS[operation](stage)
    already = len(taken_credits(sandbox))
    options = {"action": "status", "times": 5, **FALSE_ANSWERS[name]}
    stage.set_fault(path_pattern(operation), options.pop("action"), "after", **options)
    pressed_at, charge = sandbox.now(), press_button(intent)
    if charge.sent_at and charge.lost_at and charge.lost_at - charge.sent_at > longest(operation):
        verdict.open.append(f"{name} {operation}: waited for until {charge.lost_at}")
    while not charge.is_charged:
        waited = sandbox.now() - pressed_at
        if waited > (SETTLED_WITHIN if charge.is_open else TRUE_WITHIN):
            break
        beat_s = max(BEAT_S, waited.total_seconds() / 3)  # as long as it waits, the rarer
        watch_beat(sandbox, stage, charge, beat_s)
    stage.clear_faults()
    taken = taken_credits(sandbox)[already:]
    if len(taken) > 1:
        verdict.double.append(f"{name} {operation}: it took {taken}")
    verdict.judge_charge(charge, sum(taken, start=Decimal(0)), f"{name} {operation}")


def longest(operation: str) -> timedelta:
    """How long a charge may be sending: the documented time of its operation, and five seconds."""
    return timedelta(seconds=get_operation(operation).max_duration_s + 5)


def restore_access(stage: SandboxAccount) -> None:
    """Give back the token, the plan and the balance that an earlier false answer took away."""
    Token.objects.update(state=TokenState.WORKING)
    stage.token.refresh_from_db()
    tokens.refresh_account_profile(stage.token.account)


def watch_beat(
    sandbox: InProcessSandbox, stage: SandboxAccount, charge: Charge, seconds: float
) -> None:
    """The ledger is read where the charge alone did not settle it. A token that a false 401 had
    refused is added again by its owner."""
    advance_clock(sandbox, stage, seconds)
    run_due_charges()
    charge.refresh_from_db()
    if not charge.is_charged:
        sync_due_ledgers(sandbox)
    Token.objects.filter(state=TokenState.REVOKED).update(state=TokenState.WORKING)
    charge.refresh_from_db()
