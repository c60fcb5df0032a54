"""Streams are served here, in front of Django, which only says who may have one.

A request for a stream goes through Django's middleware to its view like any other. The view writes
a `StreamTicket` and answers with the headers; then the request, its session, its task and its
thread are gone, and the hub sends to the page for as long as the stream lasts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from dashboard.shared.live.event_stream import HubUnavailable, SendMessage, get_hub
from dashboard.shared.live.stream_sessions import StreamTicket

STREAM_PATH_END = "/live/"
TICKETS_KEY = "reelroom.stream_tickets"  # in the scope: the list that the view adds its ticket to
MAX_STREAMS_PER_USER = 20  # streams of one person in one process
# After a restart all pages come back within a second. Each request has a thread and a connection:
# more at once took memory that the process kept, and answered nobody sooner.
MAX_REQUESTS_AT_ONCE = 16

Scope = dict[str, Any]
Message = Mapping[str, Any]
ReceiveMessage = Callable[[], Awaitable[Message]]
Application = Callable[[Scope, ReceiveMessage, SendMessage], Awaitable[None]]


class StreamOpening(NamedTuple):
    """What Django answered to a request for a stream: the ticket, and the answer's headers."""

    ticket: StreamTicket
    start: Message


class StreamApp:
    """The ASGI application: streams, and Django for the rest."""

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
        """Send the head of the stream; None when something else was answered."""
        async with self.requests:
            # In a task of its own: what middleware left in its context goes with it.
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
        # Django counted an empty body; a stream has no length.
        head = [pair for pair in opening.start["headers"] if pair[0].lower() != b"content-length"]
        await send({**opening.start, "headers": head})
        return opening.ticket

    async def request_ticket(
        self, scope: Scope, receive: ReceiveMessage, send: SendMessage
    ) -> StreamOpening | None:
        """Ask Django. An answer without a ticket is sent to the page as it is."""
        tickets: list[StreamTicket] = []
        starts: list[Message] = []
        messages: list[Message] = [{"type": "http.request"}]

        async def receive_no_body() -> Message:
            """Who sends a body slowly keeps nobody else waiting."""
            return messages.pop() if messages else await wait_for_disconnect(receive)

        async def forward(message: Message) -> None:
            if not tickets:
                await send(message)
            elif message["type"] == "http.response.start":
                starts.append(message)

        await self.django({**scope, TICKETS_KEY: tickets}, receive_no_body, forward)
        return StreamOpening(tickets[0], starts[0]) if starts else None


async def serve_stream(ticket: StreamTicket, receive: ReceiveMessage, send: SendMessage) -> None:
    """Until the page leaves, or the hub has ended the stream: the server says both the same way."""
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
    """The page looks by itself, every ten seconds."""
    headers = [(b"retry-after", b"10"), (b"cache-control", b"no-store"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body"})
