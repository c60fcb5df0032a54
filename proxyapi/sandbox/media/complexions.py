"""The colours of a person, taken from a photo: skin, hair, eyes, clothes and ground."""

from __future__ import annotations

import colorsys
import random
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from proxyapi.sandbox.media.palettes import Colour, mix_colours, palette
from proxyapi.sandbox.media.photo_effects import open_picture

_SKINS = (
    (252, 224, 200), (244, 200, 166), (232, 180, 138), (214, 152, 108),
    (176, 114, 78), (136, 86, 58), (98, 62, 44),
)  # fmt: skip
_HAIRS = (
    (38, 28, 26), (64, 42, 32), (104, 62, 38), (150, 92, 52), (196, 146, 84), (176, 74, 42),
    (120, 116, 118), (222, 214, 206),
)  # fmt: skip
_EYES = ((74, 52, 38), (96, 120, 72), (70, 112, 150), (110, 110, 116), (150, 102, 48))


@dataclass(frozen=True, slots=True)
class Complexion:
    skin: Colour
    hair: Colour
    eyes: Colour
    clothes: Colour
    second: Colour  # of collar, stripes and glasses
    ground: Colour
    ink: Colour
    light: Colour


def complexion_of_photo(photo: Path, genre: str, seed: int) -> Complexion:
    """The colours of a photo's middle, top, foot and rim; a genre has a say in all of them."""
    dice = random.Random(f"complexion/{seed}")  # noqa: S311  # looks, not a secret
    inks = palette(genre, dice.choice(("day", "dusk")))
    picture = open_picture(photo) if photo.is_file() else None
    if picture is None:
        found = [dice.choice(_SKINS), dice.choice(_HAIRS), inks.accent, inks.sky]
    else:
        found = _looked_up(picture)
    middle, top, foot, rim = found
    return Complexion(
        skin=_nearest(middle, _SKINS),
        hair=mix_colours(_nearest(top, _HAIRS), top, 0.25),
        eyes=dice.choice(_EYES),
        clothes=mix_colours(_lively(foot), inks.accent, 0.3),
        second=mix_colours(_lively(foot, turn=0.5), inks.second, 0.55),
        ground=mix_colours(_lively(rim), inks.sky, 0.5),
        ink=inks.ink,
        light=inks.sun,
    )


def _looked_up(picture: Image.Image) -> list[Colour]:
    """Mean colours of the face, the hair above it, the foot and the rim."""
    small = np.asarray(picture.resize((32, 32), Image.Resampling.BOX), np.float32)
    rim = np.concatenate([small[:, :3].reshape(-1, 3), small[:, -3:].reshape(-1, 3)])
    parts = (small[11:18, 12:20], small[3:8, 11:21], small[25:, 8:24], rim)
    return [_colour(part.reshape(-1, 3)) for part in parts]


def _colour(pixels: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Colour:
    red, green, blue = (round(float(value)) for value in np.median(pixels, axis=0))
    return red, green, blue


def _nearest(wanted: Colour, known: tuple[Colour, ...]) -> Colour:
    return min(known, key=lambda it: sum(abs(a - b) for a, b in zip(it, wanted, strict=True)))


def _lively(colour: Colour, turn: float = 0.0) -> Colour:
    """Never quite grey, black or white; `turn` goes round the colour circle."""
    hue, light, strength = colorsys.rgb_to_hls(*(value / 255 for value in colour))
    shown = colorsys.hls_to_rgb(
        (hue + turn) % 1, min(max(light, 0.36), 0.66), min(max(strength, 0.34), 0.8)
    )
    red, green, blue = (round(value * 255) for value in shown)
    return red, green, blue
