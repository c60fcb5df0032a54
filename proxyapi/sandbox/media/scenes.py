"""Pictures for words: text, genre and seed decide on setting, subject, hour and weather."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from proxyapi.sandbox.media.canvas import Canvas
from proxyapi.sandbox.media.genre_finishes import apply_genre_finish, finish_outline
from proxyapi.sandbox.media.palettes import HOURS, palette
from proxyapi.sandbox.media.settings import paint_far
from proxyapi.sandbox.media.stage import Spot, Stage
from proxyapi.sandbox.media.subjects import SUBJECTS, Subject
from proxyapi.sandbox.media.text_analysis import SceneReading, read_scene, read_theme


@dataclass(frozen=True, slots=True)
class Picture:
    """A finished scene: everything, what lies behind the near layer, and that layer's shape."""

    image: Image.Image
    behind: Image.Image
    near: Image.Image
    motes: str


CharacterDrawer = Callable[[Canvas, bool], None]


def draw_scene(
    text: str,
    genre: str,
    seed: int,
    size: tuple[int, int],
    around: SceneReading | None = None,
    *,
    margin: float = 1.0,
    guest: CharacterDrawer | None = None,
) -> Picture:
    """Draw the scene of a text at `size`; `around` is what the whole film is about.

    The picture is `margin` times as large as the frame that the camera shows of it. A guest
    is drawn in the foreground, on the right or not: where the subject is not.
    """
    reading = read_scene(text, seed, around or read_theme("", text, seed))
    stage = _stage(reading, genre, seed, size)
    setting = paint_far(stage, reading.setting)
    stage.canvas.come_near()
    spot = setting.ground(stage)
    if reading.subject:
        paint = SUBJECTS[reading.subject]
        spot = _placed(stage, spot, paint, margin)
        paint.draw(stage, *spot)
    setting.front(stage)
    if guest is not None:
        guest(stage.canvas, spot.x < stage.width / 2)
    motes = reading.weather or setting.motes[HOURS.index(stage.hour)]
    canvas = stage.canvas
    behind = apply_genre_finish(canvas.behind or canvas.image, genre, seed)
    near = finish_outline(canvas.near, genre, seed)
    return Picture(apply_genre_finish(canvas.image, genre, seed), behind, near, motes)


def _stage(reading: SceneReading, genre: str, seed: int, size: tuple[int, int]) -> Stage:
    dice = random.Random(f"scene/{genre}/{seed}")  # noqa: S311  # a picture, not a secret
    return Stage(
        canvas=Canvas(*size, shadows=genre == "paper-cut"),
        colours=palette(genre, reading.hour),
        hour=reading.hour,
        genre=genre,
        dice=dice,
        sun_at=dice.choice((0.24, 0.3, 0.7, 0.76)),
    )


def _placed(stage: Stage, spot: Spot, subject: Subject, margin: float) -> Spot:
    """Nearer or farther by chance, but never larger than the frame, and inside it."""
    room, above = stage.width / margin, stage.height * (1 - 1 / margin) / 2
    upright = stage.height > stage.width
    size = spot.size * subject.scale * stage.dice.uniform(0.92, 1.22) * (1.2 if upright else 1)
    size = min(size, room * 0.44 / subject.reach, (spot.y - above) * 0.96)
    y = stage.height * 0.46 if subject.floating else spot.y
    edge = (stage.width - room) / 2 + min(size * subject.reach, room / 2)
    return Spot(min(max(spot.x, edge), stage.width - edge), y, size)
