"""The scraping pool: one capacity that all accounts share (spec: Limits).

It is apart from the allowance of a token. A read draws on it when its address is one that is
read; refused addresses draw nothing.
"""

from __future__ import annotations

import math

from proxyapi.sandbox.errors import TooManyRequests
from proxyapi.sandbox.records import SavedValue
from proxyapi.sandbox.world import World


def draw_from_pool(world: World) -> None:
    """Take one read out of the pool, or raise 429 with the seconds until it is filled."""
    settings, now = world.settings, world.now
    note = world.notes.get("scraping-pool") or SavedValue(id="scraping-pool", value=[now, 0])
    since, used = note.value
    if not since <= now < since + settings.scraping_pool_seconds:
        since, used = now, 0
    if used >= settings.scraping_pool:
        wait = since + settings.scraping_pool_seconds - now
        full = TooManyRequests("The scraping capacity is exhausted. Try again later.")
        full.headers["Retry-After"] = str(max(1, math.ceil(wait)))
        full.headers["X-RateLimit-Reset"] = str(math.ceil(now + wait))
        raise full
    note.value = [since, used + 1]
    world.notes.put(note)
