"""Tells the pages of a vault whether the service answers: at once when that changes, else seldom.

One call that fails may be chance, so the second of the same is told at once too.

The calls themselves are the record; this only rings. Each page counts on by itself how long ago the
last answer was, so a worker that is dead shows without anybody saying so.
"""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import redis

from proxyapi.allowance import connection
from proxyapi.events import Event, publish

EVERY = 15  # seconds in which no more of the same are announced
AT_ONCE = 2


def tell(vault: UUID, token: UUID, *, answered: bool) -> None:
    """A call of this token was answered, or nobody was there. Without Redis no page hears it."""
    same, other = _key(vault, answered), _key(vault, not answered)
    with suppress(redis.RedisError):
        with connection().pipeline(transaction=True) as pipeline:
            pipeline.set(same, 0, ex=EVERY, nx=True)
            pipeline.incr(same)
            pipeline.delete(other)
            is_news = pipeline.execute()[1] <= AT_ONCE
        if is_news:
            publish(vault, Event.SERVICE, token)


def _key(vault: UUID, answered: bool) -> str:
    return f"service:{'answers' if answered else 'silent'}:{vault}"
