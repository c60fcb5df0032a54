"""Serve event streams in front of Django, which only authorises them.

A request for a stream goes through Django's middleware to its view like any other. The view writes
a `StreamTicket` and returns the headers; then the request, its session, its task and its thread are
released, and the hub sends to the page as long as the stream lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from dashboard.shared.live.event_stream import HubUnavailable, SendMessage, get_hub
from dashboard.shared.live.stream_sessions import StreamTicket

STREAM_PATH_END = "/live/"
# Key in the ASGI scope: the list to which the view adds its ticket
TICKETS_KEY = "reelroom.stream_tickets"
MAX_STREAMS_PER_USER = 20  # per process
# After a restart all pages reconnect within a second. Each request takes a thread and a
# connection: more at once took memory that the process kept, and answered no request sooner.
MAX_REQUESTS_AT_ONCE = 16

Scope = dict[str, Any]
Message = Mapping[str, Any]
ReceiveMessage = Callable[[], Awaitable[Message]]
Application = Callable[[Scope, ReceiveMessage, SendMessage], Awaitable[None]]


class StreamOpening(NamedTuple):
    """Django's response to a stream request: the ticket and the response start message."""

    ticket: StreamTicket
    start: Message


class StreamApp:
    """The ASGI application: event streams, and Django for all other requests."""

    def __init__(self, django: Application) -> None:
        self.django = django
        self.requests = asyncio.Semaphore(MAX_REQUESTS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: ReceiveMessage, send: SendMessage) -> None:
        if scope["type"] != "http" or not scope["path"].endswith(STREAM_PATH_END):
            await self.django(scope, receive, send)
            return
        ticket = await self.begin_stream(scope, receive, send)
        if ticket is not None:
            await serve_stream(ticket, receive, send)

    async def begin_stream(
        self, scope: Scope, receive: ReceiveMessage, send: SendMessage
    ) -> StreamTicket | None:
        """Send the headers of the stream; return None if another response was sent."""
        async with self.requests:
            # A separate task, so that the context which middleware fills is released with it.
            opening = await asyncio.create_task(self.request_ticket(scope, receive, send))
        if opening is None:
            return None
        try:
            await get_hub().wait_until_ready()
        except HubUnavailable:
            await refuse_stream(send)
            return None
        if get_hub().count_streams(opening.ticket.session.user_id) >= MAX_STREAMS_PER_USER:
            await refuse_stream(send)
            return None
        # Django set the length of an empty body; a stream has none.
        head = [pair for pair in opening.start["headers"] if pair[0].lower() != b"content-length"]
        await send({**opening.start, "headers": head})
        return opening.ticket

    async def request_ticket(
        self, scope: Scope, receive: ReceiveMessage, send: SendMessage
    ) -> StreamOpening | None:
        """Pass the request to Django. A response without a ticket is sent to the page unchanged."""
        tickets: list[StreamTicket] = []
        starts: list[Message] = []
        messages: list[Message] = [{"type": "http.request"}]

        async def receive_no_body() -> Message:
            """Ignore the body: a client that sends it slowly must not block others."""
            return messages.pop() if messages else await wait_for_disconnect(receive)

        async def forward(message: Message) -> None:
            if not tickets:
                await send(message)
            elif message["type"] == "http.response.start":
                starts.append(message)

        await self.django({**scope, TICKETS_KEY: tickets}, receive_no_body, forward)
        return StreamOpening(tickets[0], starts[0]) if starts else None


async def serve_stream(ticket: StreamTicket, receive: ReceiveMessage, send: SendMessage) -> None:
    """Run until the page disconnects or the hub ends the stream; ASGI reports both as a
    disconnect."""
    hub = get_hub()
    listener = hub.open_stream(ticket, send)
    try:
        await wait_for_disconnect(receive)
    finally:
        hub.close_stream(listener)


async def wait_for_disconnect(receive: ReceiveMessage) -> Message:
    while (message := await receive())["type"] != "http.disconnect":
        pass
    return message


async def refuse_stream(send: SendMessage) -> None:
    """Send 503; the page then polls every ten seconds."""
    headers = [(b"retry-after", b"10"), (b"cache-control", b"no-store"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body"})
