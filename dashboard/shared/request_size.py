"""Refuse requests that are larger than any page sends, before they are read: Django would keep all
of one on disk before a view could look at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

MAX_REQUEST_BYTES = 80 * 1024**2  # three samples of a voice, of 25 MB each, and their form
TOO_LARGE_BODY = b"The request is larger than the limit of 80 MB. Nothing was saved."
Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApplication = Callable[[Scope, Receive, Send], Awaitable[None]]


class RequestSizeLimit:
    """An ASGI application in front of another one."""

    def __init__(self, application: AsgiApplication) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and announced_bytes(scope) > MAX_REQUEST_BYTES:
            await refuse(send)
            return
        left = MAX_REQUEST_BYTES

        async def receive_limited() -> Message:
            """As announced, or without an announcement, in chunks: what exceeds it is cut off."""
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            return message if left >= 0 else {"type": "http.disconnect"}

        await self.application(scope, receive_limited, send)


def announced_bytes(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() else 0


async def refuse(send: Send) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": TOO_LARGE_BODY})
