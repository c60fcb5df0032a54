"""Announces to a tenant's pages whether the service answers: at once when that changes, else
rarely.

A single failed call may be chance, so the second consecutive one is announced at once as well. The
recorded API calls are the data; this only triggers an update. Each page counts the age of the last
answer itself, so a dead worker becomes visible without any event.
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
    """Record that a call was answered, or that the service could not be reached."""
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
    return f"service:{'reachable' if answered else 'unreachable'}:{tenant}"
