"""Builders for rows of the operation table: reads, writes, charges, scripts, renders."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from proxyapi.operations.operation import ExecutionEvidence, JobKind, Operation, Price, PriceRule
from proxyapi.upstream.endpoint import RequestBody, RetryPolicy

SCRIPT_TIMEOUT_S = 120.0  # seconds: the call waits until the script is written
UPLOAD_TIMEOUT_S = 120.0  # seconds: the upstream stores and may transcode the file
DEFAULT_SCRIPT_PRICE = Decimal(4)  # credits; used until the cost map was read once
SCRIPT_PRICE = Price(
    PriceRule.COST_MAP, "CONTENT_PROMPT_REQUESTED", DEFAULT_SCRIPT_PRICE, exact=True
)
UNKNOWN_PRICE = Price(PriceRule.UNKNOWN, may_be_free=True)


def cost_map_price(
    key: str, fallback: int | None = None, *, exact: bool = False, may_be_free: bool = False
) -> Price:
    credits = None if fallback is None else Decimal(fallback)
    return Price(PriceRule.COST_MAP, key, credits, exact=exact, may_be_free=may_be_free)


def estimated_price(operation: str, *, exact: bool = False, may_be_free: bool = False) -> Price:
    return Price(
        PriceRule.ESTIMATE, estimate_operation=operation, exact=exact, may_be_free=may_be_free
    )


def read_row(name: str, path: str, kind: JobKind | None = None, **facts: Any) -> Operation:
    return Operation(
        name, "GET", path, RequestBody.NONE, False, RetryPolicy.SAFE, kind=kind, **facts
    )


def write_row(
    name: str, method: str, path: str, kind: JobKind | None = None, **facts: Any
) -> Operation:
    """A write that spends no credits."""
    facts = {"body": RequestBody.JSON, "retry": RetryPolicy.NEVER, **facts}
    return Operation(name, method, path, charging=False, kind=kind, **facts)


def charge_row(
    name: str,
    method: str,
    path: str,
    kind: JobKind | None,
    evidence: ExecutionEvidence,
    **facts: Any,
) -> Operation:
    facts = {"body": RequestBody.JSON, "timeout": 60.0, **facts}
    retry = RetryPolicy.NEVER
    return Operation(
        name, method, path, charging=True, retry=retry, kind=kind, evidence=evidence, **facts
    )


def script_row(name: str, method: str, path: str, label: str, **facts: Any) -> Operation:
    facts |= {"timeout": SCRIPT_TIMEOUT_S, "price": SCRIPT_PRICE, "label": label}
    facts |= {"noun": "script", "request_text": "have a script written for"}
    return charge_row(name, method, path, JobKind.FACELESS, ExecutionEvidence.SCRIPT, **facts)


def render_row(name: str, path: str, label: str, estimate_operation: str) -> Operation:
    return charge_row(
        name,
        "POST",
        path,
        JobKind.FACELESS,
        ExecutionEvidence.STATUS,
        starts_rendering=True,
        price=estimated_price(estimate_operation),
        label=label,
        noun="render",
        request_text="render",
    )
