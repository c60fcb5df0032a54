"""The request limit: 30 a minute per token by default (spec: Limits)."""

from __future__ import annotations

import math
from typing import NamedTuple

from proxyapi.sandbox.records import Window
from proxyapi.sandbox.world import World


class RateLimitState(NamedTuple):
    """What the rate headers say. `wait` is the seconds until a request is let in again."""

    limit: int
    remaining: int
    allowed: bool
    wait: float

    def headers(self, now: float) -> dict[str, str]:
        told = {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
        }
        if not self.allowed:
            # Rounded up, so that a client that waits exactly so long is let in.
            told["Retry-After"] = str(max(1, math.ceil(self.wait)))
            told["X-RateLimit-Reset"] = str(math.ceil(now + self.wait))
        return told


def count_request(
    world: World, key: str, *, limit: int | None = None, seconds: int | None = None
) -> RateLimitState:
    """Count one request of a token (by digest) and say whether it is let in.

    Another limit than that of all requests comes with its number and its window's seconds.
    """
    settings, now = world.settings, world.now
    limit, seconds = limit or settings.rate_limit, seconds or settings.rate_seconds
    window = world.windows.get(key) or Window(id=key, since=now)
    if settings.rate_window == "sliding":
        window.hits = [hit for hit in window.hits if now - seconds < hit <= now]
        used = len(window.hits)
    else:
        if now >= window.since + seconds or now < window.since:
            window.since, window.count = now, 0
        used = window.count
    allowed = used < limit
    if allowed or settings.rejected_count:
        window.count += 1
        if settings.rate_window == "sliding":
            window.hits.append(now)
        used += 1
    world.windows.put(window)
    wait = _retry_at(world, window, limit, seconds) - now
    return RateLimitState(limit, max(0, limit - used), allowed, wait)


def _retry_at(world: World, window: Window, limit: int, seconds: int) -> float:
    """When a request is let in again after the one just counted."""
    if world.settings.rate_window == "fixed":
        return window.since + seconds
    hits = window.hits
    return hits[len(hits) - limit] + seconds if len(hits) >= limit else world.now


def drop_old_windows(world: World) -> None:
    """Drop windows that are over; presented strings that are no token have one, too."""
    over = world.now - max(world.settings.rate_seconds, 60)
    old = [it.id for it in world.windows if it.since <= over and not _recent(it, over)]
    for key in old:
        world.windows.drop(key)


def _recent(window: Window, over: float) -> bool:
    return bool(window.hits) and window.hits[-1] > over
