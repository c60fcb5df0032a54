"""What a render takes: seconds of film and credits.

The charge is `faceless_render` credits for each half minute that is begun and not just for a
few seconds, times the image engine's multiplier. The estimate is approximate by intention: it
is off by up to `estimate_spread_percent`, always the same for one video.
"""

from __future__ import annotations

import math

from proxyapi.sandbox import catalogue, money
from proxyapi.sandbox.faceless import record
from proxyapi.sandbox.records import Video
from proxyapi.sandbox.world import World

WORDS_PER_MINUTE = 150
BLOCK_SECONDS = 30
GRACE_SECONDS = 5  # a script written for 30 s may be spoken in 34


def film_seconds(video: Video) -> float:
    """The spoken length of the script, at least one second."""
    words = len((video.script or "").split())
    return max(1.0, words * 60 / WORDS_PER_MINUTE)


def render_credits(world: World, video: Video) -> int:
    blocks = max(1, math.ceil((film_seconds(video) - GRACE_SECONDS) / BLOCK_SECONDS))
    engine = record.settings(video)["image_engine_id"]
    price = money.price(world, "faceless_render")
    return blocks * price * catalogue.engine_multiplier(engine)


def estimated_credits(world: World, video: Video) -> int:
    spread = world.settings.estimate_spread_percent / 100
    off = world.steady_chance(f"estimate/{video.id}").uniform(-spread, spread)
    exact = render_credits(world, video)
    return max(1, round(exact * (1 + off))) if exact else 0


def job_seconds(world: World, video: Video) -> float:
    """How long the render takes on the sandbox clock."""
    settings, minutes = world.settings, film_seconds(video) / 60
    return settings.render_seconds + settings.render_seconds_per_minute * minutes
