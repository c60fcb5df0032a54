"""The event stream: push changes of a tenant, as HTML fragments, to all its open pages.

Each process has one Redis subscription, however many pages are open. A change is rendered and
encoded once and the same bytes go to all pages, so it contains only what every member may see. The
hub itself sends, also heartbeats: an idle stream has no timer and no task but the server's own. A
page that reads too slowly queues at most `MAX_QUEUED_MESSAGES` messages; then they are replaced by
one `refetch`. No stream holds a database connection, and none outlives its session or membership.

Events: `hello` ("fresh", or "stale" if something changed since the page was rendered), `news`
(elements that replace those with the same id), `touched` (the types of the changes, as values of
`EventType` separated by spaces: parts of a page that depend on the reader then refetch themselves),
`refetch` (reload everything). An operator's page of all teams is also `touched` by `INSTANCE_TOPIC`
when a team changed: by that word alone, nothing of another team is sent.

The id of a message is a time: its receiver knows all changes before it. A page that reconnects
sends the last id: at worst it reloads without need, it never misses a change.
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

from django.conf import settings
from redis import RedisError
from redis import TimeoutError as RedisTimeout
from redis.asyncio import Redis
from redis.asyncio.client import PubSub

from dashboard.shared.connections import run_in_thread
from dashboard.shared.live.change_rendering import TooManyChanges, render_tenant_changes
from dashboard.shared.live.stream_sessions import StreamSession, StreamTicket, expired_sessions
from proxyapi import ledger, viewers
from proxyapi.events import EVENTS_CHANNEL, ChangeEvent, EventType
from proxyapi.redis_client import is_cancelled

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
SendMessage = Callable[[Mapping[str, Any]], Awaitable[None]]  # ASGI's `send` of one request

MAX_QUEUED_MESSAGES = 8  # per page
# Between two checks of sessions and memberships: with the check itself less than 5 s.
SESSION_CHECK_INTERVAL_S = 4.0
INSTANCE_TOPIC = "instance"
INSTANCE_PUSH_INTERVAL_S = 2.0  # between two words to operators' pages
HEARTBEAT_INTERVAL_S = 15.0  # without a message before a comment is sent
HEARTBEAT_CHECK_INTERVAL_S = 1.0  # between two searches for idle streams
SENDS_PER_TURN = 100  # pages sent to before the event loop answers other requests
MAX_STREAM_LIFETIME_S = 600.0  # so that peers that vanished silently are released
IDLE_SUBSCRIPTION_S = 60.0  # how long the subscription stays without a page, such as between pages
SERVICE_NEWS_GRACE_S = 30.0  # a page may miss a SERVICE event for so long: it is repeated
CLOCK_SKEW_S = 1.0  # two processes may receive the same event this far apart
REDIS_TIMEOUT_S = 2.0  # timeout of the subscription
# Redis is pinged after this time without a message, and counts as down after twice the time.
# That is less than the publishers' timeout, so no change is lost while a stream counts as current.
REDIS_PING_INTERVAL_S = 2.0
HEARTBEAT = b":\n\n"
END_OF_STREAM = b""
# A random delay, so that streams that ended together do not reconnect together. Pages report a
# lost stream only after three seconds, so the end of a lifetime is not noticed.
RECONNECT_DELAY_MS = (500, 1500)


class HubUnavailable(Exception):
    """Redis does not answer, so there are no events; pages poll instead."""


class RenderedChanges(NamedTuple):
    html: str
    expired: frozenset[StreamSession]


@dataclass(eq=False, slots=True)
class StreamListener:
    """The open pages of a browser: their session, the videos they show, and the ASGI `send`.

    `queue` holds messages while the page reads too slowly.
    """

    session: StreamSession
    job_ids: frozenset[UUID]
    watches_instance: bool
    send: SendMessage
    ends_at: float = 0.0  # as time.monotonic()
    sent_at: float = 0.0  # last offer, as time.monotonic()
    has_ended: bool = False
    queue: list[bytes] = field(default_factory=list)
    sender: asyncio.Task[None] | None = None  # while messages are being sent

    def offer(self, message: bytes) -> None:
        if self.has_ended:
            return
        if len(self.queue) >= MAX_QUEUED_MESSAGES:
            self.queue.clear()
            message = format_event("refetch", "overflow", time.time())
        self._enqueue(message)

    def end(self) -> None:
        """End the stream: drop queued messages and accept no more."""
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
        """The server's `send` blocks while the page reads too slowly; offered messages queue
        meanwhile."""
        try:
            while self.queue:
                body = self.queue.pop(0)
                more = body != END_OF_STREAM
                await self.send({"type": "http.response.body", "body": body, "more_body": more})
        except OSError:
            # The page disconnected; its request ends when the server reports it.
            self.has_ended = True
            self.queue.clear()
        finally:
            self.sender = None


class LiveHub:
    """Receives the change events of all tenants and sends them to their pages; one per event
    loop."""

    def __init__(self) -> None:
        self.listeners: set[StreamListener] = set()
        self.since = 0.0  # no event was missed from then on, as time.time()
        self._runner: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._woken = asyncio.Event()
        self._news: defaultdict[UUID, set[ChangeEvent]] = defaultdict(set)
        self._latest: dict[UUID, float] = {}
        self._asked: dict[UUID, float] = {}  # time of the last SERVICE event, by tenant
        self._is_instance_touched = False  # a team changed since operators' pages were told

    async def wait_until_ready(self) -> None:
        """Subscribe to the change events. Raises `HubUnavailable` if Redis does not confirm."""
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
        """Send `hello`, and all changes from now on. The stream ends at once if the subscription is
        lost."""
        ends_at = time.monotonic() + MAX_STREAM_LIFETIME_S
        session, job_ids, since, watches_instance = ticket
        listener = StreamListener(session, job_ids, watches_instance, send, ends_at)
        is_stale = self.has_missed_changes(session.tenant_id, since)
        if watches_instance:
            is_stale |= any(changed_at >= since for changed_at in self._latest.values())
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
        """True if the page may have missed a change since `since`. A `since` in the future was
        recorded before the clock was set back, so it proves nothing."""
        missed_service = self._asked.get(tenant, 0.0) >= since + SERVICE_NEWS_GRACE_S
        is_covered = self.since <= since <= time.time() + CLOCK_SKEW_S
        return not is_covered or self._latest.get(tenant, 0.0) >= since or missed_service

    async def close(self) -> None:
        """End the subscription and every stream."""
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
                    self._notify_instance_pages(),
                    self._send_heartbeats(),
                    self._end_expired_streams(),
                )
        except (RedisError, OSError):
            log.warning("event streams: Redis does not respond; pages poll instead")
        finally:
            self._ready.clear()
            for listener in self.listeners:
                listener.end()

    async def _receive(self, pubsub: PubSub) -> None:
        silent = False
        while not is_cancelled():
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
            change = ChangeEvent.from_json(text)
            latest = self._asked if change.event_type is EventType.SERVICE else self._latest
            latest[change.tenant_id] = time.time()
            self._news[change.tenant_id].add(change)
            self._is_instance_touched |= change.event_type is not EventType.SERVICE
            self._woken.set()

    async def _push_pending(self) -> None:
        """Changes that arrive while a tenant is rendered go into its next push."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._news:
                tenant = next(iter(self._news))  # in the order of arrival
                await self._push_changes(tenant, self._news.pop(tenant))

    async def _push_changes(self, tenant: UUID, changes: set[ChangeEvent]) -> None:
        # Changes that arrive during rendering are not included.
        at = time.time()
        listeners = [page for page in self.listeners if page.session.tenant_id == tenant]
        if not listeners:
            return
        expired, message = frozenset[StreamSession](), b""
        try:
            html, expired = await run_in_thread(
                render_for_sessions, tenant, changes, {listener.session for listener in listeners}
            )
            message = format_event("news", html) + format_event("touched", event_names(changes), at)
        except TooManyChanges:
            message = format_event("refetch", "many", at)
        except Exception:
            # A change that cannot be rendered must not stop the others.
            log.exception("event streams: a change could not be rendered")
            message = format_event("refetch", "unrendered", at)
        await offer_to_all(listeners, message, expired)

    async def _notify_instance_pages(self) -> None:
        """Tell operators' pages that a team changed. Without an id: of changes of their own team
        nothing is said."""
        while True:
            await asyncio.sleep(INSTANCE_PUSH_INTERVAL_S)
            if self._is_instance_touched:
                self._is_instance_touched = False
                pages = [page for page in self.listeners if page.watches_instance]
                await offer_to_all(pages, format_event("touched", INSTANCE_TOPIC))

    async def _send_heartbeats(self) -> None:
        """Send a comment to each idle page; end streams that reached their maximum lifetime."""
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
        """End the streams of expired sessions and record the open pages; return once no page was
        open for `IDLE_SUBSCRIPTION_S`."""
        idle_since = time.monotonic()
        while time.monotonic() - idle_since < IDLE_SUBSCRIPTION_S:
            await asyncio.sleep(SESSION_CHECK_INTERVAL_S)
            if not self.listeners:
                continue
            idle_since = time.monotonic()
            try:
                count = len(self.listeners)
                await run_in_thread(record_open_pages, *self._open_pages(), streams=count)
                sessions = {page.session for page in self.listeners}
                expired = await run_in_thread(expired_sessions, sessions, end_suspended=True)
            except Exception:
                log.exception("event streams: open pages could not be checked")
                continue
            for listener in self.listeners:
                if listener.session in expired:
                    listener.end()

    def _open_pages(self) -> tuple[set[UUID], set[tuple[UUID, UUID]]]:
        """Return the tenants with an open page, and the videos with one."""
        pages = [(listener.session.tenant_id, listener.job_ids) for listener in self.listeners]
        videos = {(tenant, job) for tenant, jobs in pages for job in jobs}
        return {tenant for tenant, _ in pages}, videos


def record_open_pages(
    tenants: Collection[UUID], videos: Collection[tuple[UUID, UUID]], *, streams: int = 0
) -> None:
    """Mark what is viewed; of teams to which somebody came, idle ledgers are read at once."""
    viewers.record_streams(streams)
    if came := viewers.record_viewers(tenants, videos):
        ledger.read_ledgers_of_viewed_teams(came)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, LiveHub] = WeakKeyDictionary()


def get_hub() -> LiveHub:
    """Return the hub of this event loop, which is the process's only one."""
    return _hubs.setdefault(asyncio.get_running_loop(), LiveHub())


async def offer_to_all(
    listeners: Sequence[StreamListener],
    message: bytes,
    expired: Collection[StreamSession] = frozenset(),
) -> None:
    """Send the same bytes to each listener; end the streams of `expired` sessions instead."""
    for number, listener in enumerate(listeners, 1):
        listener.end() if listener.session in expired else listener.offer(message)
        if number % SENDS_PER_TURN == 0:
            await asyncio.sleep(0)


def format_event(name: str, data: str, at: float | None = None) -> bytes:
    """Encode an event. The last event of a message has the id, which states that all changes before
    `at` are known."""
    id = "" if at is None else f"id: {int(at - CLOCK_SKEW_S)}\n"
    lines = "".join(f"data: {line}\n" for line in data.splitlines() if line.strip())
    return f"{id}event: {name}\n{lines}\n".encode()


def event_names(changes: Collection[ChangeEvent]) -> str:
    return " ".join(sorted({change.event_type for change in changes}))


def render_for_sessions(
    tenant: UUID, changes: set[ChangeEvent], sessions: set[StreamSession]
) -> RenderedChanges:
    return RenderedChanges(render_tenant_changes(tenant, changes), expired_sessions(sessions))


async def run_until_first_ends(*works: Coroutine[None, None, None]) -> None:
    """Run coroutines together until one returns or fails; cancel the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
