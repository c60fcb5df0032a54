"""The stream of a page: what changed in the team's tenant, as fragments, to every open page of it.

One Redis subscription a process, however many pages are open. A change is rendered and encoded once
and the same bytes go to all of them, so it holds only what every member may see. The hub itself
sends, heartbeats too: a stream at rest has no timer and no task but the server's own. A page that
reads too slowly keeps at most `MAX_QUEUED_MESSAGES` messages; then they are dropped for one
`refetch`. No stream holds a database connection, and none outlives the session or the membership it
was opened with.

Events: `hello` ("fresh", or "stale" when something changed since the page was made), `news` (a
bundle of elements that replace those of the same id), `touched` (what the news was about, as words
of `Event` with spaces between: parts of a page that depend on the reader fetch themselves then),
`refetch` (look at everything again).

The id of a message is a time, and whoever got the message knows all that was heard before. A page
that comes back names the last one: at worst it looks again without need, it never misses a change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import randint
from typing import Any, NamedTuple, ParamSpec, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.conf import settings
from redis import RedisError
from redis import TimeoutError as RedisTimeout
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from dashboard.shared.connections import release_connections
from dashboard.shared.live.change_rendering import TooManyChanges, render_tenant_changes
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket, expired_sessions
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.polling import viewers

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
SendMessage = Callable[[Mapping[str, Any]], Awaitable[None]]  # ASGI's `send` of one request

MAX_QUEUED_MESSAGES = 8  # messages that wait for one page
SESSION_CHECK_INTERVAL_S = 5.0  # seconds between two looks at who may still listen
HEARTBEAT_INTERVAL_S = 15.0  # seconds of silence before a comment is sent
HEARTBEAT_CHECK_INTERVAL_S = 1.0  # seconds between two looks at who was sent nothing for so long
SENDS_PER_TURN = 100  # pages sent to before the event loop answers other requests
MAX_STREAM_LIFETIME_S = (
    600.0  # seconds; a peer that vanished without a word is let go at the latest then
)
IDLE_SUBSCRIPTION_S = (
    60.0  # seconds the subscription stays without a page, so that going from page to page keeps it
)
SERVICE_NEWS_GRACE_S = (
    30.0  # seconds for which a page may miss whether the service answers: it is told again
)
CLOCK_SKEW_S = 1.0  # seconds between which two processes hear the same news, or ask the clock
REDIS_TIMEOUT_S = 2.0  # seconds to wait for Redis
# Seconds of silence before Redis is asked whether it is there, and after which it is not. Twice of
# it is less than those who publish wait: no news is lost while a stream still counts as told.
REDIS_PING_INTERVAL_S = 2.0
HEARTBEAT = b":\n\n"
END_OF_STREAM = b""
# Milliseconds, from and to: streams that ended together do not return together. The end of a
# lifetime is no news, and pages say so only after three seconds.
RECONNECT_DELAY_MS = (500, 1500)


class HubUnavailable(Exception):
    """Redis does not answer: there is no news to give, the page looks by itself."""


class RenderedChanges(NamedTuple):
    html: str
    expired: frozenset[StreamSession]


@dataclass(eq=False, slots=True)
class StreamListener:
    """One open page: its session, the video it shows if it shows one, and how to send to it.

    `queue` holds the messages that wait while the page reads too slowly.
    """

    session: StreamSession
    job_id: UUID | None
    send: SendMessage
    ends_at: float = 0.0  # as time.monotonic()
    sent_at: float = 0.0  # when the last message was offered, as time.monotonic()
    has_ended: bool = False
    queue: list[bytes] = field(default_factory=list)
    sender: asyncio.Task[None] | None = None  # while something is being sent

    def offer(self, message: bytes) -> None:
        if self.has_ended:
            return
        if len(self.queue) >= MAX_QUEUED_MESSAGES:
            self.queue.clear()
            message = format_event("refetch", "overflow", time.time())
        self._enqueue(message)

    def end(self) -> None:
        """Nothing that waits is delivered any more, and nothing is offered."""
        if not self.has_ended:
            self.has_ended = True
            self.queue.clear()
            self._enqueue(END_OF_STREAM)

    def _enqueue(self, message: bytes) -> None:
        self.queue.append(message)
        self.sent_at = time.monotonic()
        if self.sender is None:
            self.sender = asyncio.create_task(self._send_queued())

    async def _send_queued(self) -> None:
        """The server's `send` waits while the page reads too slowly, and what is offered queues."""
        try:
            while self.queue:
                body = self.queue.pop(0)
                more = body != END_OF_STREAM
                await self.send({"type": "http.response.body", "body": body, "more_body": more})
        except OSError:
            # The page left; its request ends when the server says so.
            self.has_ended = True
            self.queue.clear()
        finally:
            self.sender = None


class LiveHub:
    """Hears the news of all tenants and tells it to the pages of each; one in an event loop."""

    def __init__(self) -> None:
        self.listeners: set[StreamListener] = set()
        self.since = 0.0  # of when on nothing was missed, as time.time()
        self._runner: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._woken = asyncio.Event()
        self._news: defaultdict[UUID, set[ChangeEvent]] = defaultdict(set)
        self._latest: dict[UUID, float] = {}
        self._asked: dict[UUID, float] = {}  # when the service was last told to answer or not

    async def wait_until_ready(self) -> None:
        """Hear the news from now on. Raises `HubUnavailable` when Redis cannot be heard."""
        if self._runner is None or self._runner.done():
            self._ready.clear()
            self._runner = asyncio.create_task(self._run())
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait(
                {waiting, self._runner},
                timeout=REDIS_TIMEOUT_S,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            waiting.cancel()
        if not self._ready.is_set():
            raise HubUnavailable

    def open_stream(self, ticket: StreamTicket, send: SendMessage) -> StreamListener:
        """Send `hello`, and from now on what changes. The stream ends at once where nothing is
        heard any more."""
        ends_at = time.monotonic() + MAX_STREAM_LIFETIME_S
        listener = StreamListener(ticket.session, ticket.job_id, send, ends_at)
        is_stale = self.has_missed_changes(ticket.session.tenant_id, ticket.since)
        retry = f"retry: {randint(*RECONNECT_DELAY_MS)}\n".encode()  # noqa: S311 - not a secret
        hello = format_event("hello", "stale" if is_stale else "fresh", time.time())
        self.listeners.add(listener)
        listener.offer(retry + hello)
        if not self._ready.is_set():
            listener.end()
        return listener

    def close_stream(self, listener: StreamListener) -> None:
        self.listeners.discard(listener)
        if listener.sender is not None:
            listener.sender.cancel()

    def count_streams(self, user_id: int) -> int:
        return sum(listener.session.user_id == user_id for listener in self.listeners)

    def has_missed_changes(self, tenant: UUID, since: float) -> bool:
        """Whether something may have changed since then that this page was not told. A time to
        come is one of before the clock was put back, and says nothing."""
        asked = self._asked.get(tenant, 0.0) >= since + SERVICE_NEWS_GRACE_S
        told = self.since <= since <= time.time() + CLOCK_SKEW_S
        return not told or self._latest.get(tenant, 0.0) >= since or asked

    async def close(self) -> None:
        """Stop listening; every stream ends."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.gather(self._runner, return_exceptions=True)

    async def _run(self) -> None:
        redis = Redis.from_url(settings.REDIS_URL)
        try:
            async with redis, redis.pubsub() as pubsub:
                await pubsub.subscribe(EVENTS_CHANNEL)
                if await pubsub.get_message(timeout=REDIS_TIMEOUT_S) is None:
                    raise RedisTimeout("it does not confirm")
                self.since = time.time()
                self._ready.set()
                await run_until_first_ends(
                    self._receive(pubsub),
                    self._push_pending(),
                    self._send_heartbeats(),
                    self._end_expired_streams(),
                )
        except (RedisError, OSError):
            log.warning("live: Redis is away, pages look by themselves")
        finally:
            self._ready.clear()
            for listener in self.listeners:
                listener.end()

    async def _receive(self, pubsub: PubSub) -> None:
        silent = False
        while True:
            message = await pubsub.get_message(timeout=REDIS_PING_INTERVAL_S)
            if message is None and silent:
                raise RedisTimeout("it hangs")
            silent = message is None
            if message is None:
                await pubsub.ping()
            elif message["type"] == "message":
                self._collect_change(message["data"])

    def _collect_change(self, text: bytes) -> None:
        with suppress(ValueError, TypeError):
            news = ChangeEvent.from_json(text)
            latest = self._asked if news.event_type is EventType.SERVICE else self._latest
            latest[news.tenant_id] = time.time()
            self._news[news.tenant_id].add(news)
            self._woken.set()

    async def _push_pending(self) -> None:
        """News that comes while a tenant is being rendered waits and goes into its next bundle."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._news:
                first = next(iter(self._news))  # in the order in which they were heard
                await self._push_changes(first, self._news.pop(first))

    async def _push_changes(self, tenant: UUID, news: set[ChangeEvent]) -> None:
        # What is heard while this is rendered is not in it.
        at = time.time()
        listeners = [one for one in self.listeners if one.session.tenant_id == tenant]
        if not listeners:
            return
        expired, message = frozenset[StreamSession](), b""
        try:
            html, expired = await run_in_thread(
                render_for_sessions, tenant, news, {listener.session for listener in listeners}
            )
            message = format_event("news", html) + format_event("touched", event_names(news), at)
        except TooManyChanges:
            message = format_event("refetch", "many", at)
        except Exception:
            # One change that cannot be drawn must not silence the others.
            log.exception("live: a change was not rendered")
            message = format_event("refetch", "unrendered", at)
        await offer_to_all(listeners, message, expired)

    async def _send_heartbeats(self) -> None:
        """A comment to each page that was sent nothing for a while; ends streams of full age."""
        while True:
            await asyncio.sleep(HEARTBEAT_CHECK_INTERVAL_S)
            now, silent = time.monotonic(), []
            for listener in self.listeners:
                if listener.ends_at <= now:
                    listener.end()
                elif listener.sent_at + HEARTBEAT_INTERVAL_S <= now:
                    silent.append(listener)
            await offer_to_all(silent, HEARTBEAT)

    async def _end_expired_streams(self) -> None:
        """Ends the streams of those who left, and says which pages are open; returns when nobody
        has listened for a while."""
        lonely_since = time.monotonic()
        while time.monotonic() - lonely_since < IDLE_SUBSCRIPTION_S:
            await asyncio.sleep(SESSION_CHECK_INTERVAL_S)
            if not self.listeners:
                continue
            lonely_since = time.monotonic()
            await run_in_thread(viewers.record_viewers, *self._open_pages())
            try:
                gone = await run_in_thread(
                    expired_sessions, {one.session for one in self.listeners}
                )
            except Exception:
                log.exception("live: members were not checked")
                continue
            for listener in self.listeners:
                if listener.session in gone:
                    listener.end()

    def _open_pages(self) -> tuple[set[UUID], set[tuple[UUID, UUID]]]:
        """The tenants that somebody looks at, and the videos."""
        pages = [(one.session.tenant_id, one.job_id) for one in self.listeners]
        return {tenant for tenant, _ in pages}, {(tenant, job) for tenant, job in pages if job}


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, LiveHub] = WeakKeyDictionary()


def get_hub() -> LiveHub:
    """The hub of this event loop, which is the one of this process."""
    return _hubs.setdefault(asyncio.get_running_loop(), LiveHub())


async def offer_to_all(
    listeners: Sequence[StreamListener],
    message: bytes,
    expired: Collection[StreamSession] = frozenset(),
) -> None:
    """The same bytes to each; the streams of `expired` sessions end instead."""
    for number, listener in enumerate(listeners, 1):
        listener.end() if listener.session in expired else listener.offer(message)
        if number % SENDS_PER_TURN == 0:
            await asyncio.sleep(0)


def format_event(name: str, data: str, at: float | None = None) -> bytes:
    """An event of the stream. The last one of a message has the id: what was heard before `at` is
    known then."""
    id = "" if at is None else f"id: {int(at - CLOCK_SKEW_S)}\n"
    lines = "".join(f"data: {line}\n" for line in data.splitlines() if line.strip())
    return f"{id}event: {name}\n{lines}\n".encode()


def event_names(news: Collection[ChangeEvent]) -> str:
    return " ".join(sorted({one.event_type for one in news}))


def render_for_sessions(
    tenant: UUID, news: set[ChangeEvent], tickets: set[StreamSession]
) -> RenderedChanges:
    return RenderedChanges(render_tenant_changes(tenant, news), expired_sessions(tickets))


async def run_in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what asks the database in a thread that keeps no connection afterwards."""

    def run() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            release_connections()

    return await sync_to_async(run, thread_sensitive=False)()


async def run_until_first_ends(*works: Coroutine[None, None, None]) -> None:
    """Run together until one returns or fails; the others are cancelled."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
