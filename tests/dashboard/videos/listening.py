"""A hub that listens, and what its listeners hear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

import redis
from django.conf import settings

from dashboard.live import Hub, Listener
from dashboard.tickets import Ticket
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType

MESSAGE_TIMEOUT_S = 5  # seconds; a generous end for what takes milliseconds


def announce(vault: UUID, event: EventType, id: UUID) -> None:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.publish(EVENTS_CHANNEL, ChangeEvent(vault, event, id).to_json())


async def next_message(listener: Listener) -> str:
    return (await asyncio.wait_for(listener.queue.get(), MESSAGE_TIMEOUT_S)).decode()


def run_with_hub(*tickets: Ticket) -> Callable[[Callable[..., Any]], None]:
    """Run a test's coroutine with one hub and a listener for each ticket, then stop the hub."""

    def run(test: Callable[..., Any]) -> None:
        async def scene() -> None:
            hub = Hub()
            await hub.ready()
            listeners = [Listener(ticket) for ticket in tickets]
            for listener in listeners:
                hub.add(listener)
            try:
                await test(hub, *listeners)
            finally:
                await hub.close()

        asyncio.run(scene())

    return run
