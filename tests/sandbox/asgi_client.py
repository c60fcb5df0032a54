"""The application called without a client in between, for tests and figures of many calls."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from starlette.types import ASGIApp, Message

from proxyapi.sandbox.faults import ConnectionLost

JSON = "application/json"


class ClientAnswer(NamedTuple):
    """What the client heard; status 0 when the answer was lost or cut off."""

    status: int
    body: Any


LOST_ANSWER = ClientAnswer(0, None)


async def call_app(
    app: ASGIApp,
    method: str,
    path: str,
    *,
    token: str = "",
    body: Any = None,
    content: bytes = b"",
    kind: str = JSON,
    transport: Any = None,
) -> ClientAnswer:
    """One request; `body` is sent as JSON, else `content` as its `kind`."""
    path, _, query = path.partition("?")
    sent = json.dumps(body).encode() if body is not None else content
    headers = [(b"host", b"sandbox"), (b"content-type", kind.encode())]
    if token:
        headers.append((b"authorization", f"Bearer {token}".encode()))
    scope = {
        "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": headers, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        "state": {"transport": transport},
    }  # fmt: skip
    status, parts = 0, []

    async def receive() -> Message:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        else:
            parts.append(message.get("body", b""))

    try:
        await app(scope, receive, send)
        return ClientAnswer(status, json.loads(b"".join(parts)))
    except (ConnectionLost, json.JSONDecodeError):
        return LOST_ANSWER
