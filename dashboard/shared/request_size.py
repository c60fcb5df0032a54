"""Refuse requests that are larger than any page sends, before they are read: Django would keep all
of one on disk before a view could look at it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.template.loader import get_template
from django.utils.http import url_has_allowed_host_and_scheme

MAX_REQUEST_BYTES = 80 * 1024**2  # three samples of a voice, of 25 MB each, and their form
TOO_LARGE_TEXT = (
    "What you sent is too large. The limit of a file stands beside its field. Nothing was saved."
)
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
            await refuse(scope, send)
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


async def refuse(scope: Scope, send: Send) -> None:
    """Answer 413: a page for a form, which leads back to where it was sent from; for htmx the
    sentence, which static/js/shell/request_errors.js shows."""
    names = dict(scope["headers"])
    kind, body = b"text/plain; charset=utf-8", TOO_LARGE_TEXT
    if b"hx-request" not in names:
        back = urlsplit(names.get(b"referer", b"").decode("latin-1")).path
        back = back if is_page_path(back) else "/"
        context = {"shell": None, "sentence": TOO_LARGE_TEXT, "back": back}
        kind, body = b"text/html; charset=utf-8", get_template("413.html").render(context)
    headers = [(b"content-type", kind), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})


def is_page_path(path: str) -> bool:
    """A path of this site; one such as `//example.com` would be another host."""
    return path.startswith("/") and url_has_allowed_host_and_scheme(path, None)
