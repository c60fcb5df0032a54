"""How a stream begins, what it is sent in silence, and how it ends."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from dashboard.shared.live import event_stream, stream_app
from tests.dashboard.shared.live.hub_listener import (
    RecordedPage,
    next_message,
    run_with_hub,
    stream_ticket,
)

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_page_that_leaves_leaves_no_listener(priya, stream_session_of):
    """Else its person would get 503 after twenty of these."""
    ticket = stream_ticket(stream_session_of(priya))

    async def scene() -> tuple[int, int]:
        hub, page, left = event_stream.get_hub(), RecordedPage(), asyncio.Event()
        await hub.wait_until_ready()

        async def receive() -> dict[str, Any]:
            await left.wait()
            return {"type": "http.disconnect"}

        stream = asyncio.create_task(stream_app.serve_stream(ticket, receive, page.send))
        await next_message(page)
        during = len(hub.listeners)
        left.set()
        await stream
        after = len(hub.listeners)
        await hub.close()
        return during, after

    assert asyncio.run(scene()) == (1, 0)


def test_a_stream_of_a_hub_that_hears_nothing_any_more_ends_at_once(priya, stream_session_of):
    ticket = stream_ticket(stream_session_of(priya))

    async def scene() -> list[str]:
        page = RecordedPage()
        event_stream.LiveHub().open_stream(ticket, page.send)
        return [await next_message(page)]

    assert asyncio.run(scene()) == [""], "no hello that would say that news comes"


def test_a_page_comes_back_soon(priya, stream_session_of):
    ticket = stream_ticket(stream_session_of(priya))

    async def scene() -> str:
        hub, page = event_stream.LiveHub(), RecordedPage()
        await hub.wait_until_ready()
        hub.open_stream(ticket, page.send)
        hello = await next_message(page)
        await hub.close()
        return hello

    wait = int(re.findall(r"retry: (\d+)\n", asyncio.run(scene()))[0])
    assert wait < 3_000, "pages would say that live news is interrupted"


def test_a_page_that_is_sent_nothing_gets_heartbeats(priya, stream_session_of, monkeypatch):
    monkeypatch.setattr(event_stream, "HEARTBEAT_CHECK_INTERVAL_S", 0.01)
    monkeypatch.setattr(event_stream, "HEARTBEAT_INTERVAL_S", 0.05)

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        for _ in range(2):
            assert await next_message(page) == ":\n\n"


def test_a_stream_ends_after_its_lifetime(priya, stream_session_of, monkeypatch):
    """A peer that vanished without a word is let go."""
    monkeypatch.setattr(event_stream, "HEARTBEAT_CHECK_INTERVAL_S", 0.01)
    monkeypatch.setattr(event_stream, "MAX_STREAM_LIFETIME_S", 0.0)

    @run_with_hub(stream_session_of(priya))
    async def _(hub, page):
        assert await next_message(page) == ""
