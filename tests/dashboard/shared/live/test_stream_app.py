"""The application in front of Django: what it asks, what it answers when there is no stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest

from dashboard.shared.live import stream_app
from dashboard.shared.live.event_stream import get_hub
from dashboard.shared.live.stream_app import TICKETS_KEY, StreamApp
from dashboard.shared.live.stream_sessions import StreamSession
from tests.dashboard.shared.live.hub_listener import RecordedPage, next_message, stream_ticket

SCOPE = {"type": "http", "path": "/live/"}
HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"Content-Length", b"0")]}


def django_granting(session: StreamSession) -> Callable[..., Any]:
    """Reads the request to its end, then grants a stream."""

    async def django(scope: Any, receive: Any, send: Any) -> None:
        assert await receive() == {"type": "http.request"}
        scope[TICKETS_KEY].append(stream_ticket(session))
        await send(HEAD)
        await send({"type": "http.response.body"})

    return django


async def never() -> dict[str, Any]:
    return await asyncio.Future()


@pytest.fixture
def session() -> StreamSession:
    return StreamSession(uuid4(), uuid4(), 7, "key")


def test_a_body_that_does_not_come_keeps_no_stream_waiting(session):
    async def scene() -> None:
        page = RecordedPage()
        stream = asyncio.create_task(StreamApp(django_granting(session))(SCOPE, never, page.send))
        assert "event: hello" in await next_message(page)
        assert page.status == 200
        stream.cancel()
        await asyncio.gather(stream, return_exceptions=True)
        assert not get_hub().listeners
        await get_hub().close()

    asyncio.run(scene())


def test_one_person_has_a_limited_number_of_streams(session, monkeypatch):
    monkeypatch.setattr(stream_app, "MAX_STREAMS_PER_USER", 1)

    async def scene() -> list[int]:
        app, pages = StreamApp(django_granting(session)), [RecordedPage(), RecordedPage()]
        streams = []
        for page in pages:
            streams.append(asyncio.create_task(app(SCOPE, never, page.send)))
            await next_message(page)
        streams[0].cancel()
        await asyncio.gather(*streams, return_exceptions=True)
        await get_hub().close()
        return [page.status for page in pages]

    assert asyncio.run(scene()) == [200, 503]


def test_without_redis_a_page_gets_503(session, settings):
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"

    async def scene() -> int:
        page = RecordedPage()
        await StreamApp(django_granting(session))(SCOPE, never, page.send)
        return page.status

    assert asyncio.run(scene()) == 503


def test_an_answer_without_a_ticket_is_sent_unchanged():
    answer = [{"type": "http.response.start", "status": 302, "headers": []}, {"body": b"there"}]

    async def django(scope: Any, receive: Any, send: Any) -> None:
        for message in answer:
            await send(message)

    async def scene() -> list[Mapping[str, Any]]:
        sent: list[Mapping[str, Any]] = []

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        await StreamApp(django)(SCOPE, never, send)
        return sent

    assert asyncio.run(scene()) == answer


def test_few_requests_for_streams_are_in_django_at_once(session, monkeypatch):
    """After a restart all pages come back within a second."""
    inside = [0, 0]  # now, at most

    async def django(scope: Any, receive: Any, send: Any) -> None:
        inside[0] += 1
        inside[1] = max(inside)
        await asyncio.sleep(0)
        inside[0] -= 1

    async def scene() -> None:
        app = StreamApp(django)
        await asyncio.gather(*[app(SCOPE, never, RecordedPage().send) for _ in range(40)])

    asyncio.run(scene())
    assert inside == [0, stream_app.MAX_REQUESTS_AT_ONCE]
