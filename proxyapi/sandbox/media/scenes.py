"""Pictures for words: text, genre and seed decide on setting, subject, hour and weather."""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image

from proxyapi.sandbox.media.canvas import Canvas
from proxyapi.sandbox.media.finishes import finish, outline
from proxyapi.sandbox.media.palettes import HOURS, palette
from proxyapi.sandbox.media.reading import Reading, read, theme
from proxyapi.sandbox.media.settings import paint_far
from proxyapi.sandbox.media.stage import Spot, Stage
from proxyapi.sandbox.media.subjects import SUBJECTS, Subject


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished scene: everything, what lies behind the near layer, and that layer's shape."""

    image: Image.Image
    behind: Image.Image
    near: Image.Image
    motes: str


def draw(
    text: str, genre: str, seed: int, size: tuple[int, int], around: Reading | None = None
) -> Picture:
    """Draw the scene of a text at `size`; `around` is what the whole film is about."""
    reading = read(text, seed, around or theme("", text, seed))
    stage = _stage(reading, genre, seed, size)
    setting = paint_far(stage, reading.setting)
    stage.canvas.come_near()
    spot = setting.ground(stage)
    if reading.subject:
        paint = SUBJECTS[reading.subject]
        paint.draw(stage, *_placed(stage, spot, paint))
    setting.front(stage)
    motes = reading.weather or setting.motes[HOURS.index(stage.hour)]
    canvas = stage.canvas
    behind = finish(canvas.behind or canvas.image, genre, seed)
    near = outline(canvas.near, genre, seed)
    return Picture(finish(canvas.image, genre, seed), behind, near, motes)


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


def _placed(stage: Stage, spot: Spot, subject: Subject) -> Spot:
    """Nearer or farther by chance, but never wider than the picture."""
    upright = stage.height > stage.width
    size = spot.size * subject.scale * stage.dice.uniform(0.92, 1.22) * (1.2 if upright else 1)
    size = min(size, stage.width * 0.44 / subject.reach)
    y = stage.height * 0.46 if subject.floating else spot.y
    edge = min(size * subject.reach, stage.width / 2)
    return Spot(min(max(spot.x, edge), stage.width - edge), y, size)
