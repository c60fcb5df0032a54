"""How often somebody may try something a minute: limits of ours, beside those of the service.

The tries of the last minute are kept in Redis, one sorted set a name, so all processes count
together. A try counts from when it begins, so that many at once are no more than one after the
other; one that turned out to be in order may be taken back. Without Redis nothing may be tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from uuid import uuid4

import redis

from proxyapi.allowance import connection
from proxyapi.refusals import TooManyTries

WINDOW_S = 60
UNCOUNTED = "The counter of requests does not answer at the moment. Nothing was sent."


def count_try(limits: Mapping[str, int], sentence: str) -> str:
    """Count one try under each name; answers its id, for `take_back`. The limit is tries a minute.

    Raises `TooManyTries` with the sentence, whose `{wait}` becomes the seconds until the next one;
    then it counts under no name.
    """
    id = str(uuid4())
    try:
        waits = [wait_under(name, limit, id) for name, limit in limits.items()]
        if wait := max(waits):
            take_back(limits, id)
            raise TooManyTries(sentence.format(wait=wait))
    except redis.RedisError:
        raise TooManyTries(UNCOUNTED) from None
    return id


def wait_under(name: str, limit: int, id: str) -> int:
    """Count the try under this name; the seconds to wait where it is one too many, else 0."""
    now, key = time.time(), key_of(name)
    with connection().pipeline(transaction=True) as pipeline:
        pipeline.zremrangebyscore(key, "-inf", now - WINDOW_S)
        pipeline.zadd(key, {id: now})
        pipeline.expire(key, WINDOW_S)
        pipeline.zcard(key)
        pipeline.zrange(key, 0, 0, withscores=True)
        *_, tries, oldest = pipeline.execute()
    if tries <= limit:
        return 0
    return max(1, round(float(oldest[0][1]) + WINDOW_S - now))


def take_back(names: Iterable[str], id: str) -> None:
    with suppress(redis.RedisError):
        for name in names:
            connection().zrem(key_of(name), id)


def key_of(name: str) -> str:
    return f"throttle:{name}"
