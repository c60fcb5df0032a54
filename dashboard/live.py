"""The stream of a page: what changed in the team's vault, as fragments, to every open page of it.

One Redis subscription a process, however many pages are open. A change is rendered once and the
same bytes go to all of them, so it holds only what every member may see. A page that reads too
slowly keeps at most `DEPTH` messages; then they are dropped for one `refetch`. No stream holds a
database connection, and none outlives the session or the membership it was opened with.

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

from dashboard.database import give_back, let_thread_go
from dashboard.fragments import TooMuch, bundle
from dashboard.tickets import Ticket, lapsed
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.polling import viewers

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

DEPTH = 8  # messages that wait for one page
GUARD = 5.0  # seconds between two looks at who may still listen
HEARTBEAT = 15.0  # seconds of silence before a comment is sent
LIFETIME = 600.0  # seconds; a peer that vanished without a word is let go at the latest then
IDLE = (
    60.0  # seconds the subscription stays without a page, so that going from page to page keeps it
)
BRIEF = 30.0  # seconds for which a page may miss whether the service answers: it is told again
APART = 1.0  # seconds between which two processes hear the same news, or ask the clock
PATIENCE = 2.0  # seconds to wait for Redis
# Seconds of silence before Redis is asked whether it is there, and after which it is not. Twice of
# it is less than those who publish wait: no news is lost while a stream still counts as told.
PULSE = 2.0
END = b""
# Milliseconds, from and to: streams that ended together do not return together. The end of a
# lifetime is no news, and pages say so only after three seconds.
RETRY = (500, 1500)


class HubAway(Exception):
    """Redis does not answer: there is no news to give, the page looks by itself."""


class Pushed(NamedTuple):
    html: str
    lapsed: frozenset[Ticket]


@dataclass(eq=False, slots=True)
class Listener:
    """One open page: its ticket, the video it shows if it shows one, and the messages that wait."""

    ticket: Ticket
    video: UUID | None = None
    queue: asyncio.Queue[bytes] = field(default_factory=partial(asyncio.Queue, DEPTH))

    def offer(self, message: bytes) -> None:
        try:
            self.queue.put_nowait(message)
        except asyncio.QueueFull:
            self.empty()
            self.queue.put_nowait(event("refetch", "overflow", time.time()))

    def end(self) -> None:
        """Nothing that waits is delivered any more."""
        self.empty()
        self.queue.put_nowait(END)

    def empty(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()


class Hub:
    """Hears the news of all vaults and tells it to the pages of each; one in an event loop."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.since = 0.0  # of when on nothing was missed, as time.time()
        self._runner: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._woken = asyncio.Event()
        self._news: defaultdict[UUID, set[ChangeEvent]] = defaultdict(set)
        self._latest: dict[UUID, float] = {}
        self._asked: dict[UUID, float] = {}  # when the service was last told to answer or not

    async def ready(self) -> None:
        """Hear the news from now on. Raises `HubAway` when Redis cannot be heard."""
        if self._runner is None or self._runner.done():
            self._ready.clear()
            self._runner = asyncio.create_task(self._run())
        waiting = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait(
                {waiting, self._runner}, timeout=PATIENCE, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()
        if not self._ready.is_set():
            raise HubAway

    def add(self, listener: Listener) -> None:
        """It is told from now on; at once that it is over, where nothing is heard any more."""
        self.listeners.add(listener)
        if not self._ready.is_set():
            listener.end()

    def missed(self, vault: UUID, since: float) -> bool:
        """Whether something may have changed since then that this page was not told. A time to
        come is one of before the clock was put back, and says nothing."""
        asked = self._asked.get(vault, 0.0) >= since + BRIEF
        told = self.since <= since <= time.time() + APART
        return not told or self._latest.get(vault, 0.0) >= since or asked

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
                if await pubsub.get_message(timeout=PATIENCE) is None:
                    raise RedisTimeout("it does not confirm")
                self.since = time.time()
                self._ready.set()
                await first_of(self._hear(pubsub), self._tell(), self._watch())
        except (RedisError, OSError):
            log.warning("live: Redis is away, pages look by themselves")
        finally:
            self._ready.clear()
            for listener in self.listeners:
                listener.end()

    async def _hear(self, pubsub: PubSub) -> None:
        silent = False
        while True:
            message = await pubsub.get_message(timeout=PULSE)
            if message is None and silent:
                raise RedisTimeout("it hangs")
            silent = message is None
            if message is None:
                await pubsub.ping()
            elif message["type"] == "message":
                self._note(message["data"])

    def _note(self, text: bytes) -> None:
        with suppress(ValueError, TypeError):
            news = ChangeEvent.from_json(text)
            latest = self._asked if news.event_type is EventType.SERVICE else self._latest
            latest[news.tenant_id] = time.time()
            self._news[news.tenant_id].add(news)
            self._woken.set()

    async def _tell(self) -> None:
        """News that comes while a vault is being rendered waits and goes into its next bundle."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._news:
                first = next(iter(self._news))  # in the order in which they were heard
                await self._push(first, self._news.pop(first))

    async def _push(self, vault: UUID, news: set[ChangeEvent]) -> None:
        # What is heard while this is rendered is not in it.
        at = time.time()
        told = [one for one in self.listeners if one.ticket.vault == vault]
        if not told:
            return
        try:
            pushed = await in_thread(rendered, vault, news, {one.ticket for one in told})
            message = event("news", pushed.html) + event("touched", topics(news), at)
        except TooMuch:
            pushed, message = Pushed("", frozenset()), event("refetch", "many", at)
        except Exception:
            # One change that cannot be drawn must not silence the others.
            log.exception("live: a change was not rendered")
            pushed, message = Pushed("", frozenset()), event("refetch", "unrendered", at)
        for listener in told:
            listener.end() if listener.ticket in pushed.lapsed else listener.offer(message)

    async def _watch(self) -> None:
        """Ends the streams of those who left, and says which pages are open; returns when nobody
        has listened for a while."""
        lonely_since = time.monotonic()
        while time.monotonic() - lonely_since < IDLE:
            await asyncio.sleep(GUARD)
            if not self.listeners:
                continue
            lonely_since = time.monotonic()
            await in_thread(viewers.record_viewers, *self._open())
            try:
                gone = await in_thread(lapsed, {one.ticket for one in self.listeners})
            except Exception:
                log.exception("live: members were not checked")
                continue
            for listener in self.listeners:
                if listener.ticket in gone:
                    listener.end()

    def _open(self) -> tuple[set[UUID], set[tuple[UUID, UUID]]]:
        """The vaults that somebody looks at, and the videos."""
        pages = [(one.ticket.vault, one.video) for one in self.listeners]
        return {vault for vault, _ in pages}, {(vault, job) for vault, job in pages if job}


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of this event loop, which is the one of this process."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())


async def stream(listener: Listener, since: float) -> AsyncGenerator[bytes, None]:
    """The bytes of one page's stream, until the page, its session or its lifetime ends.

    The listener is added here and not before: of a browser that left too soon nothing is iterated,
    and what is never iterated never ends.
    """
    ends_at, told_by = time.monotonic() + LIFETIME, hub()
    let_thread_go()
    try:
        told_by.add(listener)
        stale = told_by.missed(listener.ticket.vault, since)
        retry = f"retry: {randint(*RETRY)}\n".encode()  # noqa: S311 - not a secret
        yield retry + event("hello", "stale" if stale else "fresh", time.time())
        while time.monotonic() < ends_at:
            try:
                message = await asyncio.wait_for(listener.queue.get(), HEARTBEAT)
            except TimeoutError:
                message = b":\n\n"
            if message == END:
                return
            yield message
    finally:
        told_by.listeners.discard(listener)


def event(name: str, data: str, at: float | None = None) -> bytes:
    """An event of the stream. The last one of a message has the id: what was heard before `at` is
    known then."""
    id = "" if at is None else f"id: {int(at - APART)}\n"
    lines = "".join(f"data: {line}\n" for line in data.splitlines() if line.strip())
    return f"{id}event: {name}\n{lines}\n".encode()


def topics(news: Collection[ChangeEvent]) -> str:
    return " ".join(sorted({one.event_type for one in news}))


def rendered(vault: UUID, news: set[ChangeEvent], tickets: set[Ticket]) -> Pushed:
    return Pushed(bundle(vault, news), lapsed(tickets))


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what asks the database in a thread that keeps no connection afterwards."""

    def run() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            give_back()

    return await sync_to_async(run, thread_sensitive=False)()


async def first_of(*works: Coroutine[None, None, None]) -> None:
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
