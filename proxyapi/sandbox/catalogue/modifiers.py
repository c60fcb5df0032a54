"""What each clip engine can be asked for: its modifier menus, by slug.

A menu is fixed values with a default; durations are a fixed set or a range of seconds. Values
are opaque strings: 720p of one engine is not 720P of another.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from proxyapi.sandbox.catalogue.engines import CLIP_ENGINES, ClipEngine


@dataclass(frozen=True, slots=True)
class ModifierMenus:
    """The first value of a row is its default, except that of durations.

    `durations` is a set; with `ranged` it is every second between its ends. `frames` are the
    references that the engine takes, `needed` the one that it does not work without.
    """

    durations: tuple[int, ...]
    duration: int
    resolutions: tuple[str, ...]
    aspect_ratios: tuple[str, ...]
    audio: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    needed: str | None = None
    ranged: bool = False


MENUS = {
    "brook-lite": ModifierMenus((4, 6, 8), 4, ("480p",), ("16:9", "9:16", "1:1")),
    "brook": ModifierMenus(
        tuple(range(1, 16)),
        5,
        ("480p", "720p"),
        ("16:9", "9:16", "1:1", "4:3", "3:4"),
        frames=("first_frame",),
        ranged=True,
    ),
    "kestrel": ModifierMenus(
        (5, 10),
        5,
        ("720p", "1080p"),
        ("16:9", "9:16", "1:1", "21:9"),
        frames=("first_frame", "last_frame"),
    ),
    "kestrel-voice": ModifierMenus(
        (5, 8, 12),
        5,
        ("720p", "1080p"),
        ("16:9", "9:16", "1:1"),
        audio=("on", "off"),
        frames=("first_frame",),
    ),
    "marlow-02": ModifierMenus(
        (6, 10),
        6,
        ("768P", "512P", "1080P"),
        ("16:9", "9:16", "1:1"),
        frames=("first_frame", "last_frame"),
    ),
    "tessera": ModifierMenus(
        tuple(range(2, 13)),
        5,
        ("720p", "1080p"),
        ("auto", "16:9", "9:16", "3:2", "2:3", "1:1"),
        frames=("image", "last_frame"),
        needed="image",
        ranged=True,
    ),
    "halden": ModifierMenus(
        (4, 6, 8),
        8,
        ("720p", "1080p"),
        ("16:9", "9:16"),
        audio=("off", "on"),
        frames=("first_frame", "last_frame"),
    ),
    "halden-max": ModifierMenus(
        (4, 6, 8),
        8,
        ("1080p",),
        ("16:9", "9:16", "21:9", "auto"),
        audio=("on", "off"),
        frames=("first_frame", "last_frame", "video"),
    ),
}

BY_SLUG = {engine.slug: engine for engine in CLIP_ENGINES}


def find_rate(engine: ClipEngine, resolution: str | None, audio: str | None) -> Fraction | None:
    """Credits per second of the entry that matches; None if no entry does."""
    for credits, priced_resolution, priced_audio in engine.prices:
        if priced_resolution in (None, resolution) and priced_audio in (None, audio):
            return Fraction(str(credits))
    return None
