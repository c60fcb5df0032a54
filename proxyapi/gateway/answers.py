"""What the gateway answers: the service's bytes, or our own refusal in the spec's error shape
(spec, "Errors")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from proxyapi.models.account import amount_text
from proxyapi.upstream.reply import Answer

API_PATH = "/api/v2"
# Of the service's headers; all others end here, such as cookies.
ALLOWED_HEADERS = (
    "content-type",
    "retry-after",
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
)
REQUEST_ID_HEADER, CHARGE_ID_HEADER = "reelroom-request-id", "reelroom-charge-id"
SOURCE_HEADER, REPLAYED_HEADER = "x-reelroom-source", "idempotent-replayed"


class GatewayRefusal(Exception):
    """The gateway itself answers, and the request was not sent. `details` go beside the code."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code)
        self.status, self.code, self.message = status, code, message
        self.headers, self.details = dict(headers or {}), dict(details or {})

    def answer(self, request_id: UUID) -> Answer:
        error = {"code": self.code, "request_id": str(request_id), **self.details}
        body = {"message": self.message, "status": self.status, "error": error}
        return own_answer(self.status, body, self.headers)


def own_answer(
    status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
) -> Answer:
    own = {"content-type": "application/json", SOURCE_HEADER: "reelroom", **(headers or {})}
    return Answer(status, own, json.dumps(body, default=to_json).encode())


def to_json(value: Any) -> str:
    """Times as ISO 8601; ids and amounts as text, which no client rounds."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


def amount_or_none(amount: Decimal | None) -> str | None:
    """Credits as text, which no client rounds; None where nobody knows them."""
    return None if amount is None else amount_text(amount)


def passed_on(answer: Answer) -> Answer:
    """The service's answer with the headers that a script may see."""
    headers = {name: answer.headers[name] for name in ALLOWED_HEADERS if name in answer.headers}
    return Answer(answer.status, {**headers, SOURCE_HEADER: "service"}, answer.body)


def mark_replayed(answer: Answer) -> Answer:
    return Answer(answer.status, {**answer.headers, REPLAYED_HEADER: "true"}, answer.body)


def error_code(answer: Answer) -> str:
    """`error.code` of an answer; empty without one."""
    if answer.status < 400:
        return ""
    try:
        body = json.loads(answer.body)
        return str(body["error"]["code"])[:60]
    except (ValueError, KeyError, TypeError):
        return ""
