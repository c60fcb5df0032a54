"""What a render takes: seconds of film and credits.

The charge is `faceless_render` credits for each half minute that is begun and not just for a
few seconds; ai-visuals multiply it by the image engine's cost. ai-clips cost what their clip
engine takes a second. The estimate is approximate by intention: it is off by up to
`estimate_spread_percent`, always the same for one video.
"""

from __future__ import annotations

import math
from fractions import Fraction

from proxyapi.sandbox import billing, catalogue
from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES, ClipEngine
from proxyapi.sandbox.catalogue.modifiers import MENUS, find_rate
from proxyapi.sandbox.clips.order import ClipOrder
from proxyapi.sandbox.faceless import record
from proxyapi.sandbox.records import Video
from proxyapi.sandbox.spoken_words import count_spoken_words
from proxyapi.sandbox.world import World

WORDS_PER_MINUTE = 150
BLOCK_SECONDS = 30
GRACE_SECONDS = 5  # a script written for 30 s may be spoken in 34


def film_seconds(video: Video) -> float:
    """The spoken length of the script, at least one second."""
    words = count_spoken_words(video.script or "")
    return max(1.0, words * 60 / WORDS_PER_MINUTE)


def render_credits(world: World, video: Video) -> int:
    blocks = max(1, math.ceil((film_seconds(video) - GRACE_SECONDS) / BLOCK_SECONDS))
    if video.type == "ai-clips":
        return _clip_credits(world, video)
    engine = record.video_settings(video)["image_engine_id"] if video.type == "ai-visuals" else None
    price = billing.get_price(world, "faceless_render")
    return blocks * price * catalogue.engine_multiplier(engine)


def _clip_credits(world: World, video: Video) -> int:
    """The price entry that matches; a combination without one costs the engine's first."""
    engine, chosen = _clip_engine(video), record.video_settings(video)["resolution"]
    found = find_rate(engine, chosen or MENUS[engine.slug].resolutions[0], _audio(video))
    exact = found if found is not None else Fraction(str(engine.prices[0][0]))
    return ClipOrder(engine, {"duration": round(film_seconds(video))}, exact).credits(world)


def clip_resolution(video: Video) -> str:
    """What an ai-clips video is made in: what it is paid for. A PATCH takes the resolutions of all
    engines."""
    engine = _clip_engine(video)
    offered: tuple[str, ...] = MENUS[engine.slug].resolutions
    chosen: str = record.video_settings(video)["resolution"] or offered[0]
    has_price = chosen in offered and find_rate(engine, chosen, _audio(video)) is not None
    return chosen if has_price else engine.prices[0][1] or offered[0]


def _audio(video: Video) -> str | None:
    menu = MENUS[_clip_engine(video).slug]
    chosen: str | None = record.video_settings(video)["audio"]
    return chosen or (menu.audio[0] if menu.audio else None)


def _clip_engine(video: Video) -> ClipEngine:
    by_id = {engine.id: engine for engine in CLIP_ENGINES}
    return by_id.get(record.video_settings(video)["clip_engine_id"], CLIP_ENGINES[0])


def estimated_credits(world: World, video: Video) -> int:
    spread = world.settings.estimate_spread_percent / 100
    off = world.named_random_source(f"estimate/{video.id}").uniform(-spread, spread)
    exact = render_credits(world, video)
    return max(1, round(exact * (1 + off))) if exact else 0


def job_seconds(world: World, video: Video) -> float:
    """How long the render takes on the sandbox clock."""
    settings, minutes = world.settings, film_seconds(video) / 60
    return settings.render_seconds + settings.render_seconds_per_minute * minutes
