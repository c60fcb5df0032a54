"""Our own limits on how often something may be attempted per minute, beside the service's limits.

The attempts of the last minute are kept in Redis, one sorted set per name, shared by all processes.
An attempt counts from its start, so that concurrent attempts are limited like consecutive ones; a
legitimate one can be taken back afterwards. Without Redis no attempt is allowed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from uuid import uuid4

import redis

from proxyapi.redis_client import connect_redis
from proxyapi.refusals import TooManyAttempts

THROTTLE_WINDOW_S = 60
COUNTER_UNAVAILABLE = "The rate limiter is not responding. Nothing was sent."


class CounterUnavailable(TooManyAttempts):
    """Redis does not answer."""


def count_attempt(limits: Mapping[str, int], sentence: str) -> str:
    """Count one attempt under each name and return its id for `forget_attempt`. Limits are per
    minute.

    Raises `TooManyAttempts` with `sentence`, in which `{wait}` becomes the seconds until the next
    attempt is allowed; the attempt then counts under no name. `CounterUnavailable` is one.
    """
    id = str(uuid4())
    try:
        waits = [count_under(name, limit, id) for name, limit in limits.items()]
        if wait := max(waits):
            forget_attempt(limits, id)
            raise TooManyAttempts(sentence.format(wait=wait), wait)
    except redis.RedisError:
        raise CounterUnavailable(COUNTER_UNAVAILABLE) from None
    return id


def count_under(name: str, limit: int, id: str) -> int:
    """Count the attempt under one name; return the seconds to wait if it exceeds the limit, else
    0."""
    now, key = time.time(), throttle_key(name)
    with connect_redis().pipeline(transaction=True) as pipeline:
        pipeline.zremrangebyscore(key, "-inf", now - THROTTLE_WINDOW_S)
        pipeline.zadd(key, {id: now})
        pipeline.expire(key, THROTTLE_WINDOW_S)
        pipeline.zcard(key)
        pipeline.zrange(key, 0, 0, withscores=True)
        *_, tries, oldest = pipeline.execute()
    if tries <= limit:
        return 0
    return max(1, round(float(oldest[0][1]) + THROTTLE_WINDOW_S - now))


def forget_attempt(names: Iterable[str], id: str) -> None:
    with suppress(redis.RedisError):
        for name in names:
            connect_redis().zrem(throttle_key(name), id)


def throttle_key(name: str) -> str:
    return f"throttle:{name}"
