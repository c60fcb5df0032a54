"""GET /_events: the events of a team as they happen, as Server-Sent Events.

The table is the truth: the id of a message is the position of its event, and a stream sends what is
behind the position that it has sent last. A message of Redis, or a check every two seconds, only
says that something is to be read; streams at the same position share the read. An idle stream has
its connection, and neither a thread nor a timer nor a connection to the database. The check also
ends the streams of keys that are no longer accepted.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from redis import RedisError
from redis.asyncio import Redis
from starlette.requests import Request
from starlette.responses import Response

from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.gateway.access import bearer_value, check_key
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.call import Call
from proxyapi.gateway.keys import digest
from proxyapi.gateway.team_rules import team_rules
from proxyapi.gateway.threads import in_thread
from proxyapi.models import ApiEvent, ApiEventType, ApiKey, KeyScope
from proxyapi.redis_client import is_cancelled

log = logging.getLogger(__name__)
CHECK_INTERVAL_S = 2.0
HEARTBEAT_INTERVAL_S = 15.0
REDIS_RETRY_S = 2.0
LISTEN_S = 1.0  # between two checks whether the listener was cancelled
EVENTS_AT_ONCE = 200  # of one read
# What is published with each event of the API.
WAKING = (EventType.JOB, EventType.CHARGE, EventType.BUDGET, EventType.ALERT)
HEADERS = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}
HEARTBEAT, END = b":\n\n", b""
BEGINNING = b"retry: 2000\n\n"  # milliseconds after which a client connects again
MAX_POSITION_DIGITS = 18
MAX_STREAMS_OF_KEY, STREAM_RETRY_S = 100, "10"
TOO_MANY_STREAMS = (
    f"This API key has {MAX_STREAMS_OF_KEY} event streams open. Close one, or read the events of "
    "several scripts in one stream."
)
UNKNOWN_TYPE = "There is no event type “{name}”."
UNKNOWN_POSITION = "Last-Event-ID is not the id of an event. Leave it out to begin with new events."
NO_READER = "The owner of this API key may not read the events of the team."
Send = Callable[[Mapping[str, Any]], Awaitable[None]]


class StreamKey(NamedTuple):
    """The key of a stream, by the value that was sent: after its rotation it has another."""

    id: UUID
    digest: str
    client_ip: str


class Message(NamedTuple):
    position: int
    event_type: str
    member_id: int | None
    text: bytes


@dataclass(eq=False, slots=True)
class EventStream:
    """`owner_id` is the user whose events it sends, None for those of the whole team; `position` is
    what it has sent, `last` what there is."""

    key: StreamKey
    tenant_id: UUID
    owner_id: int | None
    types: frozenset[str]
    position: int
    last: int
    send: Send | None = None
    sent_at: float = 0.0  # as time.monotonic()
    has_ended: bool = False
    sender: asyncio.Task[None] | None = None

    def wants(self, message: Message) -> bool:
        is_visible = self.owner_id is None or message.member_id in (None, self.owner_id)
        return is_visible and (not self.types or message.event_type in self.types)

    def is_silent(self) -> bool:
        return time.monotonic() - self.sent_at >= HEARTBEAT_INTERVAL_S

    async def write(self, body: bytes) -> None:
        if self.send is not None:
            self.sent_at = time.monotonic()
            await self.send({"type": "http.response.body", "body": body, "more_body": body != END})


class EventStreams:
    """The open streams of a process."""

    def __init__(self) -> None:
        self.streams: set[EventStream] = set()
        self.reads: dict[tuple[UUID, int], asyncio.Task[list[Message]]] = {}
        self.changed: set[UUID] = set()  # tenants of which something was published
        self.has_changed = asyncio.Event()
        self.watcher: asyncio.Task[None] | None = None

    def check_count(self, key: ApiKey) -> None:
        """Raise `GatewayRefusal` if the key has all the streams that it may have in a process."""
        if sum(stream.key.id == key.pk for stream in self.streams) >= MAX_STREAMS_OF_KEY:
            headers = {"retry-after": STREAM_RETRY_S}
            raise GatewayRefusal(429, "TOO-MANY-STREAMS", TOO_MANY_STREAMS, headers=headers)

    async def run(self, stream: EventStream, receive: Any) -> None:
        """Send until the client is gone or the key ends, which ASGI reports as the same."""
        self.streams.add(stream)
        if self.watcher is None or self.watcher.done():
            self.watcher = asyncio.create_task(self.watch())
        self.start_sender(stream)
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self.streams.discard(stream)
            if stream.sender is not None:
                stream.sender.cancel()

    def start_sender(self, stream: EventStream) -> None:
        if stream.sender is None:
            stream.sender = asyncio.create_task(self.send_new(stream))

    async def send_new(self, stream: EventStream) -> None:
        """Send what there is; the server's `send` waits while the client reads slowly."""
        try:
            if stream.is_silent():
                await stream.write(HEARTBEAT)
            while stream.position < stream.last and not stream.has_ended:
                last, messages = stream.last, await self.read(stream.tenant_id, stream.position)
                if body := b"".join(one.text for one in messages if stream.wants(one)):
                    await stream.write(body)
                # There are none if they were pruned meanwhile.
                stream.position = messages[-1].position if messages else last
            if stream.has_ended:
                await stream.write(END)
        except OSError:
            pass  # the client is gone; its request ends when the server says so
        except Exception:
            log.exception("events could not be sent; the next check tries again")
        finally:
            stream.sender = None

    async def read(self, tenant_id: UUID, position: int) -> list[Message]:
        key = (tenant_id, position)
        if (reading := self.reads.get(key)) is None:
            reading = asyncio.create_task(in_thread(read_messages, tenant_id, position))
            self.reads[key] = reading
            reading.add_done_callback(lambda _: self.reads.pop(key))
        return await asyncio.shield(reading)  # others wait for it, too

    async def watch(self) -> None:
        """Run while a stream is open."""
        tasks = [asyncio.create_task(work) for work in (self.listen(), self.wake_changed())]
        try:
            while self.streams:
                await asyncio.sleep(CHECK_INTERVAL_S)
                await self.check()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def check(self) -> None:
        """End the streams of keys that are no longer accepted; look for events that nothing was
        published of, and for streams that have been silent for long."""
        streams = list(self.streams)  # those that open meanwhile are checked the next time
        try:
            readers = await in_thread(find_readers, {stream.key for stream in streams})
        except Exception:
            log.exception("the keys of event streams could not be checked")
            return
        for stream in streams:
            if stream.key in readers:
                stream.owner_id = readers[stream.key]
            else:
                stream.has_ended = True
            if stream.has_ended or stream.is_silent():
                self.start_sender(stream)
        self.changed |= {stream.tenant_id for stream in streams}
        self.has_changed.set()

    async def listen(self) -> None:
        """Note what is published; while Redis is away the check finds it."""
        while not is_cancelled():
            with suppress(RedisError, OSError):
                async with Redis.from_url(settings.REDIS_URL) as redis, redis.pubsub() as pubsub:
                    await pubsub.subscribe(EVENTS_CHANNEL)
                    while not is_cancelled():
                        message = await pubsub.get_message(timeout=LISTEN_S)
                        if message is not None and message["type"] == "message":
                            self.note_change(message["data"])
            if not is_cancelled():
                await asyncio.sleep(REDIS_RETRY_S)

    def note_change(self, text: bytes) -> None:
        with suppress(ValueError, TypeError):
            change = ChangeEvent.from_json(text)
            if change.event_type in WAKING:
                self.changed.add(change.tenant_id)
                self.has_changed.set()

    async def wake_changed(self) -> None:
        while True:
            await self.has_changed.wait()
            self.has_changed.clear()
            while self.changed:
                tenant_id = self.changed.pop()
                if any(stream.tenant_id == tenant_id for stream in self.streams):
                    await self.wake(tenant_id)

    async def wake(self, tenant_id: UUID) -> None:
        """Have those of the tenant's streams send that have not sent everything."""
        try:
            last = await in_thread(ApiEvent.objects.number_new, tenant_id)
        except Exception:
            log.exception("events could not be numbered; the next check tries again")
            return
        for stream in self.streams:
            if stream.tenant_id == tenant_id and stream.position < last:
                stream.last = max(stream.last, last)
                self.start_sender(stream)


class EventStreamResponse(Response):
    def __init__(self, streams: EventStreams, stream: EventStream) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self.streams, self.stream = streams, stream

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        self.stream.send = send
        if scope["method"] == "HEAD":
            await self.stream.write(END)
            return
        await self.stream.write(BEGINNING)
        await self.streams.run(self.stream, receive)


def open_stream(call: Call, request: Request) -> EventStream:
    """The stream that the request asks for. Raises `GatewayRefusal`."""
    key = call.key
    check_key(key, KeyScope.READ, changes=False)
    stream_key = StreamKey(key.pk, digest(bearer_value(request)), call.client_ip)
    readers = find_readers({stream_key})
    if stream_key not in readers:
        raise GatewayRefusal(403, "GEN-FORBIDDEN", NO_READER)
    types = frozenset(",".join(request.query_params.getlist("types")).replace(" ", "").split(","))
    if unknown := sorted(types - {*ApiEventType.values, ""}):
        message = UNKNOWN_TYPE.format(name=unknown[0][:60])
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message)
    last = ApiEvent.objects.number_new(key.tenant_id)
    position = parse_position(request.headers.get("last-event-id", ""), last)
    owner_id = readers[stream_key]
    return EventStream(stream_key, key.tenant_id, owner_id, types - {""}, position, last)


def parse_position(text: str, last: int) -> int:
    """The position in a Last-Event-ID header; without one only new events are sent."""
    if not text:
        return last
    is_number = text.isascii() and text.isdigit() and len(text) <= MAX_POSITION_DIGITS
    if not is_number or int(text) > last:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", UNKNOWN_POSITION)
    return int(text)


def find_readers(keys: Collection[StreamKey]) -> dict[StreamKey, int | None]:
    """Of these the keys that are still accepted, with the user whose events they may read, None for
    those of the whole team."""
    now = timezone.now()
    active = ApiKey.objects.active(now).filter(pk__in={key.id for key in keys})
    rows = {row.pk: row for row in active if row.has_scope(KeyScope.READ)}
    reads_team = team_rules().find_event_readers(rows.values())
    readers = {}
    for key in keys:
        row = rows.get(key.id)
        if row is None or row.pk not in reads_team or not row.accepts_address(key.client_ip):
            continue
        is_current = row.digest == key.digest
        is_previous = row.previous_digest == key.digest and (row.previous_until or now) > now
        if is_current or is_previous:
            readers[key] = None if reads_team[row.pk] else row.owner_id
    return readers


def read_messages(tenant_id: UUID, position: int) -> list[Message]:
    """The next events of the tenant, each as the text of its message."""
    events = ApiEvent.objects.filter(tenant=tenant_id).after(position)[:EVENTS_AT_ONCE]
    return [
        Message(event.position or 0, event.event_type, event.member_id, format_message(event))
        for event in events
    ]


def format_message(event: ApiEvent) -> bytes:
    content = json.dumps(event.content)
    return f"id: {event.position}\nevent: {event.event_type}\ndata: {content}\n\n".encode()
