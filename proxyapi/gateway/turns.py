"""Turns: requests wait for the token's rate limit here, without a thread.

For each token one task takes permits, and gives them to the keys that wait in turn, so that a
script with a hundred requests does not hold up one with a single request. What a person in the
browser needs goes first: the rate limiter's `Priority.GATEWAY` leaves it free.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from contextlib import suppress
from uuid import UUID

from proxyapi import calls
from proxyapi.gateway.threads import in_thread
from proxyapi.models import Token
from proxyapi.rate_limiter import Permit, Priority, RateLimitExhausted

MAX_SLEEP_S = 0.5  # the bucket may be refilled or paused meanwhile


class Waiter:
    """One request that waits for a permit until `until` (monotonic seconds)."""

    def __init__(self, token: Token, operation: str, until: float) -> None:
        self.token, self.operation, self.until = token, operation, until
        self.permit: asyncio.Future[Permit] = asyncio.get_running_loop().create_future()


class TokenQueue:
    """The requests that wait for one token, by key, in the order in which keys get their turn."""

    def __init__(self) -> None:
        self.by_key: OrderedDict[UUID, deque[Waiter]] = OrderedDict()

    def add(self, key_id: UUID, waiter: Waiter) -> None:
        self.by_key.setdefault(key_id, deque()).append(waiter)

    def take_next(self) -> Waiter | None:
        """The next waiting request; its key goes to the end of the queue."""
        while self.by_key:
            key_id, waiters = self.by_key.popitem(last=False)
            while waiters:
                waiter = waiters.popleft()
                if waiter.permit.done():  # its client is gone
                    continue
                if waiters:
                    self.by_key[key_id] = waiters
                return waiter
        return None

    async def serve(self) -> None:
        """Give permits until nobody waits."""
        while (waiter := self.take_next()) is not None:
            await serve_waiter(waiter)


async def serve_waiter(waiter: Waiter) -> None:
    while not waiter.permit.done():
        try:
            permit = await in_thread(
                calls.acquire_permit,
                waiter.token,
                Priority.GATEWAY,
                operation=waiter.operation,
            )
        except RateLimitExhausted as error:
            if time.monotonic() + error.wait > waiter.until:
                settle(waiter, error)
                return
            await asyncio.sleep(min(max(error.wait, 0.05), MAX_SLEEP_S))
        except Exception as error:
            settle(waiter, error)
            return
        else:
            if not waiter.permit.done():
                waiter.permit.set_result(permit)


def settle(waiter: Waiter, error: Exception) -> None:
    with suppress(asyncio.InvalidStateError):
        waiter.permit.set_exception(error)


class Turns:
    """The queues of all tokens of this process."""

    def __init__(self) -> None:
        self.queues: dict[str, TokenQueue] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    def is_awaited(self, token: Token) -> bool:
        """Whether requests wait for the token, behind whom a new one has to wait."""
        return token.bucket in self.queues

    async def wait(self, key_id: UUID, token: Token, operation: str, until: float) -> Permit:
        """Wait for a permit. Raises `RateLimitExhausted` as soon as it is certain that the time is
        too short, else what `calls.acquire_permit` raises."""
        waiter = Waiter(token, operation, until)
        queue = self.queues.setdefault(token.bucket, TokenQueue())
        queue.add(key_id, waiter)
        running = self.tasks.get(token.bucket)
        if running is None or running.done():
            task = asyncio.create_task(queue.serve())
            self.tasks[token.bucket] = task
            task.add_done_callback(lambda ended: self.forget(token.bucket, ended))
        return await waiter.permit

    def forget(self, bucket: str, ended: asyncio.Task[None]) -> None:
        if self.tasks.get(bucket) is ended:
            del self.tasks[bucket], self.queues[bucket]
