"""The stream of a page: what changed in the team's tenant, as fragments, to every open page of it.

One Redis subscription a process, however many pages are open. A change is rendered once and the
same bytes go to all of them, so it holds only what every member may see. A page that reads too
slowly keeps at most `MAX_QUEUED_MESSAGES` messages; then they are dropped for one `refetch`. No
stream holds a database connection, and none outlives the session or the membership it was opened
with.

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
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import randint
from typing import NamedTuple, ParamSpec, TypeVar
from uuid import UUID
from weakref import WeakKeyDictionary

from asgiref.sync import sync_to_async
from django.conf import settings
from redis import RedisError
from redis import TimeoutError as RedisTimeout
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from dashboard.shared.connections import release_connections, release_request_thread
from dashboard.shared.live.change_rendering import TooManyChanges, render_tenant_changes
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.polling import viewers

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

MAX_QUEUED_MESSAGES = 8  # messages that wait for one page
SESSION_CHECK_INTERVAL_S = 5.0  # seconds between two looks at who may still listen
HEARTBEAT_INTERVAL_S = 15.0  # seconds of silence before a comment is sent
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
    """One open page: its ticket, the video it shows if it shows one, and the messages that wait."""

    session: StreamSession
    job_id: UUID | None = None
    queue: asyncio.Queue[bytes] = field(default_factory=partial(asyncio.Queue, MAX_QUEUED_MESSAGES))

    def offer(self, message: bytes) -> None:
        try:
            self.queue.put_nowait(message)
        except asyncio.QueueFull:
            self.drop_queued()
            self.queue.put_nowait(format_event("refetch", "overflow", time.time()))

    def end(self) -> None:
        """Nothing that waits is delivered any more."""
        self.drop_queued()
        self.queue.put_nowait(END_OF_STREAM)

    def drop_queued(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()


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

    def add_listener(self, listener: StreamListener) -> None:
        """It is told from now on; at once that it is over, where nothing is heard any more."""
        self.listeners.add(listener)
        if not self._ready.is_set():
            listener.end()

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
                    self._receive(pubsub), self._push_pending(), self._end_expired_streams()
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
        told = [one for one in self.listeners if one.session.tenant_id == tenant]
        if not told:
            return
        try:
            pushed = await run_in_thread(
                render_for_sessions, tenant, news, {one.session for one in told}
            )
            message = format_event("news", pushed.html) + format_event(
                "touched", event_names(news), at
            )
        except TooManyChanges:
            pushed, message = RenderedChanges("", frozenset()), format_event("refetch", "many", at)
        except Exception:
            # One change that cannot be drawn must not silence the others.
            log.exception("live: a change was not rendered")
            pushed, message = (
                RenderedChanges("", frozenset()),
                format_event("refetch", "unrendered", at),
            )
        for listener in told:
            listener.end() if listener.session in pushed.expired else listener.offer(message)

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


async def stream_messages(listener: StreamListener, since: float) -> AsyncGenerator[bytes, None]:
    """The bytes of one page's stream, until the page, its session or its lifetime ends.

    The listener is added here and not before: of a browser that left too soon nothing is iterated,
    and what is never iterated never ends.
    """
    ends_at, told_by = time.monotonic() + MAX_STREAM_LIFETIME_S, get_hub()
    release_request_thread()
    try:
        told_by.add_listener(listener)
        stale = told_by.has_missed_changes(listener.session.tenant_id, since)
        retry = f"retry: {randint(*RECONNECT_DELAY_MS)}\n".encode()  # noqa: S311 - not a secret
        yield retry + format_event("hello", "stale" if stale else "fresh", time.time())
        while time.monotonic() < ends_at:
            try:
                message = await asyncio.wait_for(listener.queue.get(), HEARTBEAT_INTERVAL_S)
            except TimeoutError:
                message = b":\n\n"
            if message == END_OF_STREAM:
                return
            yield message
    finally:
        told_by.listeners.discard(listener)


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
