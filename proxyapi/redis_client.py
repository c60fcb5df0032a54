"""The Redis of the setting REDIS_URL: one connection pool for each process.

A process that serves pages gives up after 0.3 s. After a timeout Redis is not called for 2 s, so
that several uses in one page do not add up: they fail at once with `redis.TimeoutError`. Workers
and commands wait 5 s, each time.
"""

from __future__ import annotations

import asyncio
import time
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

PAGE_TIMEOUT_S = 0.3
WORKER_TIMEOUT_S = 5.0
TIMEOUT_BACKOFF_S = 2.0  # without calls after a timeout
_timeout_s = WORKER_TIMEOUT_S
_backoff_until_s = 0.0  # monotonic


def use_page_timeout() -> None:
    """From now on this process uses the short timeout, because it serves pages."""
    global _timeout_s
    _timeout_s = PAGE_TIMEOUT_S


def reset_timeout_backoff() -> None:
    global _backoff_until_s
    _backoff_until_s = 0.0


def uses_page_timeout() -> bool:
    """Whether this process uses a shorter timeout than a worker."""
    return _timeout_s < WORKER_TIMEOUT_S


def connect_redis() -> redis.Redis:
    return _cached_client(settings.REDIS_URL, _timeout_s)


def connect_redis_patiently() -> redis.Redis:
    """With a worker's timeout, for calls that no page waits for."""
    return _cached_client(settings.REDIS_URL, WORKER_TIMEOUT_S)


def is_redis_up() -> bool:
    """Whether Redis answers now. Checked before the queue is used, which has a worker's timeout."""
    try:
        return bool(connect_redis().ping())
    except redis.RedisError:
        return False


class RetryUnlessTimeout(Retry):
    """Retries a broken connection once; after a timeout nothing is sent for `TIMEOUT_BACKOFF_S`."""

    def __init__(self) -> None:
        super().__init__(NoBackoff(), 1, (redis.ConnectionError,))

    def call_with_retry(self, *args: Any, **named: Any) -> Any:
        global _backoff_until_s
        if time.monotonic() < _backoff_until_s:
            raise redis.TimeoutError("Redis did not answer a moment ago")
        try:
            return super().call_with_retry(*args, **named)
        except (TimeoutError, redis.TimeoutError):
            _backoff_until_s = time.monotonic() + TIMEOUT_BACKOFF_S
            raise


@lru_cache(maxsize=4)
def _cached_client(url: str, timeout_s: float) -> redis.Redis:
    retry = {"retry": RetryUnlessTimeout()} if timeout_s < WORKER_TIMEOUT_S else {}
    return redis.Redis.from_url(
        url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, **retry
    )


def is_cancelled() -> bool:
    """Whether the current task was cancelled, even if it runs on.

    An error of closing a connection may take the place of a cancellation; redis-py then connects
    again, and only the count of cancellations tells of it.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
