"""What a film is: everything it depends on, and the slugs it honours. Values only.

An unknown slug falls back to the first one of its kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

GENRES = (
    "cinematic",
    "watercolor",
    "anime",
    "noir",
    "paper-cut",
    "pixel-art",
    "nature-documentary",
    "synthwave",
    "storybook",
    "blueprint",
)
DEFAULT_HEIGHT = 720
FONTS = ("aileron", "sans-bold", "serif", "serif-italic", "condensed", "mono")
CAPTION_EFFECTS = ("pop", "karaoke", "fade", "plain", "box", "rise")
CAPTION_POSITIONS = ("bottom", "center", "top")
TRANSITIONS = ("fade", "cut", "slide", "wipe", "zoom")
VOLUMES = ("low", "off", "medium", "high")
OVERLAYS = ("none", "film-grain", "dust", "vhs")
WATERMARK_POSITIONS = ("top-right", "top-left", "bottom-right", "bottom-left")
ANIMATIONS = ("", "ken-burns", "pan", "drift", "still")
SFX = ("none", "whoosh", "soft-hits", "typing")
ASPECT_RATIOS = ("16:9", "9:16", "1:1", "4:5", "4:3", "21:9")


class MediaUnavailable(Exception):
    """What was asked for cannot be made without the media extra."""


@dataclass(frozen=True, slots=True)
class Film:
    """Everything a film depends on; the same film gives the same frames.

    `seconds` fixes the length unless the narration is longer. A film that is not narrated
    shows its script as captions, or only its pictures when it is not captioned either.
    `character` is who stands in its scenes: `genre, seed, photo` as of a portrait.
    """

    script: str
    title: str = ""
    language: str = "en"
    gender: str = "female"
    voice_seed: int = 0
    genre: str = "cinematic"
    aspect_ratio: str = "16:9"
    font: str = "aileron"
    caption_effect: str = "pop"
    caption_position: str = "bottom"
    transition: str = "fade"
    volume: str = "low"
    seed: int = 0
    overlay: str = "none"
    animation: str = ""  # each shot its own
    sfx: str = "none"
    watermark: str = ""
    watermark_position: str = "top-right"
    narrated: bool = True
    captioned: bool = True
    seconds: float | None = None
    character: dict[str, Any] | None = None


def height(resolution: str) -> int:
    """The shorter side in pixels of a word such as 720p or 768P; without a number the usual one."""
    digits = re.match(r"\d+", resolution)
    return int(digits.group()) if digits else DEFAULT_HEIGHT


def frame_size(aspect_ratio: str, height: int = DEFAULT_HEIGHT) -> tuple[int, int]:
    """Width and height in pixels; `height` is the shorter side, both are even."""
    try:
        across, down = (float(part) for part in aspect_ratio.split(":"))
        ratio = min(max(across / down, 0.4), 2.5)
    except (ValueError, ZeroDivisionError):
        ratio = 16 / 9
    short = max(64, height) // 2 * 2
    long = round(short * max(ratio, 1 / ratio) / 2) * 2
    return (long, short) if ratio >= 1 else (short, long)
