"""A scripted upstream behind the real client: what it answers, and what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import httpx
import pytest

from proxyapi import calls
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient

BASE = "http://127.0.0.1:8001/v2"
RATE_LIMIT_HEADERS = {"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": "29"}
Answer = httpx.Response | type[Exception] | Callable[[httpx.Request], httpx.Response]


def make_response(data: Any, status: int = 200, **meta: Any) -> httpx.Response:
    body = {"message": "OK", "status": status, "data": data, "meta": meta}
    return httpx.Response(status, json=body, headers=RATE_LIMIT_HEADERS)


def charged_response(
    data: Any, cost: object, remaining: int = 900, status: int = 202
) -> httpx.Response:
    return make_response(data, status, credits={"cost": cost, "remaining": remaining})


def history_page(*rows: Any) -> httpx.Response:
    """A ledger of these rows, in one page."""
    return make_response(list(rows), total=len(rows))


def error_response(status: int, code: str, message: str = "no", **more: Any) -> httpx.Response:
    error = {"code": code, "message": message, **more}
    body = {"message": message, "status": status, "error": error}
    if status == 422:
        body["errors"] = {"prompt": [message]}
    return httpx.Response(status, json=body, headers=RATE_LIMIT_HEADERS)


def rate_limited_response(left: int, seconds: int | None = 40) -> httpx.Response:
    """429, as of so many requests that are left, for so many seconds; None: it does not say."""
    headers = {"X-RateLimit-Limit": "30", "X-RateLimit-Remaining": str(left)}
    if seconds is not None:
        headers["Retry-After"] = str(seconds)
    return httpx.Response(429, json={"message": "Too many", "status": 429}, headers=headers)


class ScriptedUpstream:
    """Answers by method and path; the last answer of a list repeats."""

    def __init__(self) -> None:
        self.script: dict[tuple[str, str], list[Answer]] = {}
        self.requests: list[httpx.Request] = []

    def respond(self, method: str, path: str, *answers: Answer) -> None:
        self.script[method, path] = list(answers)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        b"".join(cast(httpx.SyncByteStream, request.stream))  # all of it leaves, as on the wire
        answers = self.script[request.method, request.url.path.removeprefix("/v2")]
        chosen = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(chosen, httpx.Response):
            return chosen
        if isinstance(chosen, type):
            raise chosen("the wire broke")
        return chosen(request)

    def request_bodies(self, method: str, path: str) -> list[dict[str, Any]]:
        """The JSON bodies of the requests that came for this method and path."""
        return [
            json.loads(request.content or b"{}")
            for request in self.requests
            if (request.method, request.url.path) == (method, f"/v2{path}")
        ]


def replace_upstream(monkeypatch: pytest.MonkeyPatch) -> ScriptedUpstream:
    """Every call of the portal ends here until the test is over; a test says what is answered."""
    script = ScriptedUpstream()
    client = UpstreamClient(BASE, OPERATIONS, transport=httpx.MockTransport(script.handle))
    monkeypatch.setattr(calls, "upstream_client", lambda: client)
    return script
