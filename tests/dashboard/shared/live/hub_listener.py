"""A hub that listens, and what the pages of its streams hear."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.test import RequestFactory

from dashboard.models import Membership
from dashboard.shared.live.event_stream import LiveHub
from dashboard.shared.live.stream_app import TICKETS_KEY
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket
from dashboard.shared.live.views import open_event_stream
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType


def announce(tenant: UUID, event: EventType, id: UUID) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.publish(EVENTS_CHANNEL, ChangeEvent(tenant, event, id).to_json())


class RecordedPage:
    """Stands in for the server's side of a page's request, and keeps what is sent."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()
        self.reads = asyncio.Event()
        self.reads.set()
        self.status = 0  # of the answer

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.reads.wait()
        if message["type"] == "http.response.start":
            self.status = message["status"]
            return
        assert message.get("more_body", False) is bool(message.get("body")), (
            "the empty message ends the stream"
        )
        self.messages.put_nowait(message.get("body", b""))


async def next_message(page: RecordedPage) -> str:
    return (await page.messages.get()).decode()


def stream_ticket(session: StreamSession, *job_ids: UUID) -> StreamTicket:
    return StreamTicket(session, frozenset(job_ids), time.time())


def request_ticket(member: Membership, **query: Any) -> Any:
    """The ticket that the view writes for a page of this member; None if it refuses."""
    request: Any = RequestFactory().get("/live/", query)
    request.user, request.team, request.session = member.user, member.team, SessionStore()
    request.scope = {TICKETS_KEY: []}
    response = open_event_stream(request)
    tickets: list[StreamTicket] = request.scope[TICKETS_KEY]
    assert response.status_code == (200 if tickets else 503)
    return tickets[0] if tickets else None


def run_with_hub(*sessions: StreamSession) -> Callable[[Callable[..., Any]], None]:
    """Run a test's coroutine with one hub and a page for each session, each after its `hello`;
    then stop the hub."""

    def run(test: Callable[..., Any]) -> None:
        async def scene() -> None:
            hub = LiveHub()
            await hub.wait_until_ready()
            pages = [RecordedPage() for _ in sessions]
            for session, page in zip(sessions, pages, strict=True):
                hub.open_stream(stream_ticket(session), page.send)
                assert "event: hello" in await next_message(page)
            try:
                await test(hub, *pages)
            finally:
                await hub.close()

        asyncio.run(scene())

    return run
