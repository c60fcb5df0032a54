"""A hub that listens, and what its listeners hear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import redis
from django.conf import settings

from dashboard.shared.live.event_stream import LiveHub, StreamListener
from dashboard.shared.live.stream_sessions import StreamSession
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType

MESSAGE_TIMEOUT_S = 5  # seconds; a generous end for what takes milliseconds


def announce(tenant: UUID, event: EventType, id: UUID) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.publish(EVENTS_CHANNEL, ChangeEvent(tenant, event, id).to_json())


async def next_message(listener: StreamListener) -> str:
    return (await asyncio.wait_for(listener.queue.get(), MESSAGE_TIMEOUT_S)).decode()


def run_with_hub(*tickets: StreamSession) -> Callable[[Callable[..., Any]], None]:
    """Run a test's coroutine with one hub and a listener for each ticket, then stop the hub."""

    def run(test: Callable[..., Any]) -> None:
        async def scene() -> None:
            hub = LiveHub()
            await hub.wait_until_ready()
            listeners = [StreamListener(ticket) for ticket in tickets]
            for listener in listeners:
                hub.add_listener(listener)
            try:
                await test(hub, *listeners)
            finally:
                await hub.close()

        asyncio.run(scene())

    return run
