"""Pictures for words: text, genre and seed decide on setting, subject, hour and weather."""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image

from proxyapi.sandbox.media.canvas import Canvas
from proxyapi.sandbox.media.finishes import finish
from proxyapi.sandbox.media.palettes import HOURS, palette
from proxyapi.sandbox.media.reading import Reading, read
from proxyapi.sandbox.media.settings import paint_far
from proxyapi.sandbox.media.stage import Spot, Stage
from proxyapi.sandbox.media.subjects import SUBJECTS

theme = read


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished scene: everything, what lies behind the near layer, and that layer's shape."""

    image: Image.Image
    behind: Image.Image | None
    near: Image.Image
    motes: str


def draw(
    text: str, genre: str, seed: int, size: tuple[int, int], around: Reading | None = None
) -> Picture:
    """Draw the scene of a text at `size`; `around` is the reading of the whole film."""
    reading = read(text, seed, around)
    stage = _stage(reading, genre, seed, size)
    setting = paint_far(stage, reading.setting)
    stage.canvas.come_near()
    spot = setting.ground(stage)
    if reading.subject:
        paint = SUBJECTS[reading.subject]
        place = _placed(stage, spot, floating=paint.floating)
        paint.draw(stage, place.x, place.y, place.size * paint.scale)
    setting.front(stage)
    motes = reading.weather or setting.motes[HOURS.index(stage.hour)]
    canvas = stage.canvas
    behind = finish(canvas.behind, genre, seed) if canvas.behind is not None else None
    return Picture(finish(canvas.image, genre, seed), behind, canvas.near, motes)


def _stage(reading: Reading, genre: str, seed: int, size: tuple[int, int]) -> Stage:
    dice = random.Random(f"scene/{genre}/{seed}")  # noqa: S311  # a picture, not a secret
    return Stage(
        canvas=Canvas(*size, shadows=genre == "paper-cut"),
        colours=palette(genre, reading.hour),
        hour=reading.hour,
        genre=genre,
        dice=dice,
        sun_at=dice.choice((0.24, 0.3, 0.7, 0.76)),
    )


def _placed(stage: Stage, spot: Spot, *, floating: bool) -> Spot:
    if floating:
        return Spot(spot.x, stage.height * 0.46, spot.size)
    return spot
