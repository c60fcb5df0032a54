"""Tells the pages of a tenant whether the service answers: at once when that changes, else seldom.

One call that fails may be chance, so the second of the same is told at once too.

The calls themselves are the record; this only rings. Each page counts on by itself how long ago the
last answer was, so a worker that is dead shows without anybody saying so.
"""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

import redis

from proxyapi.events import EventType, publish_event
from proxyapi.redis_client import connect_redis

ANNOUNCE_INTERVAL_S = 15  # seconds in which no more of the same are announced
IMMEDIATE_ANNOUNCEMENTS = 2


def announce_reachability(tenant: UUID, token: UUID, *, answered: bool) -> None:
    """A call of this token was answered, or nobody was there. Without Redis no page hears it."""
    same, other = _counter_key(tenant, answered), _counter_key(tenant, not answered)
    with suppress(redis.RedisError):
        with connect_redis().pipeline(transaction=True) as pipeline:
            pipeline.set(same, 0, ex=ANNOUNCE_INTERVAL_S, nx=True)
            pipeline.incr(same)
            pipeline.delete(other)
            is_news = pipeline.execute()[1] <= IMMEDIATE_ANNOUNCEMENTS
        if is_news:
            publish_event(tenant, EventType.SERVICE, token)


def _counter_key(tenant: UUID, answered: bool) -> str:
    return f"service:{'answers' if answered else 'silent'}:{tenant}"
