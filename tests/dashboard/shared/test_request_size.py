"""What is larger than any page sends is refused before it is read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dashboard.shared import request_size
from dashboard.shared.request_size import MAX_REQUEST_BYTES, RequestSizeLimit


class Portal:
    """Reads a request to its end, and answers 200."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            self.messages.append(message["type"])
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})


def request(portal: Portal, *chunks: bytes, length: int | None = None) -> int:
    sent: list[dict[str, Any]] = []
    waiting = list(chunks)

    async def receive() -> dict[str, Any]:
        body = waiting.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", str(length).encode())]
    scope = {"type": "http", "headers": headers}
    asyncio.run(RequestSizeLimit(portal)(scope, receive, send))
    return int(sent[0]["status"])


@pytest.mark.parametrize(
    ("headers", "page", "back"),
    [
        ({"referer": "https://portal.example/characters/new/"}, True, "/characters/new/"),
        ({"referer": "https://portal.example//elsewhere.example/"}, True, "/"),
        ({"hx-request": "true"}, False, ""),
    ],
)
def test_a_refused_form_gets_a_page_with_a_way_back_and_htmx_a_sentence(
    headers: dict[str, str], page: bool, back: str
) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}
    asyncio.run(request_size.refuse(scope, send))
    text = sent[1]["body"].decode()
    assert "What you sent is too large." in text
    assert ("<main" in text, f'href="{back}"' in text) == (page, page)


def test_a_gigabyte_is_refused_unread() -> None:
    portal = Portal()
    assert request(portal, b"x", length=1024**3) == 413
    assert portal.messages == []


def test_three_samples_pass() -> None:
    portal = Portal()
    assert request(portal, b"x", length=MAX_REQUEST_BYTES) == 200
    assert portal.messages == ["http.request"]


def test_what_does_not_say_how_long_it_is_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_size, "MAX_REQUEST_BYTES", 10)
    portal = Portal()
    request(portal, b"12345", b"67890", b"1", b"never read")
    assert portal.messages == ["http.request", "http.request", "http.disconnect"]
