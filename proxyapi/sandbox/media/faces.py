"""A bust: ground, shoulders, head, hair and what somebody wears, all by the seed's choice.

Measures are shares of the picture: (0, 0) is the middle of its foot, up is up.
"""

from __future__ import annotations

import random

from PIL import Image

from proxyapi.sandbox.media import clothes, hairdos
from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.canvas import Canvas
from proxyapi.sandbox.media.complexions import Complexion
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.sitter import Sitter

_TALL, _WIDE = 0.74, 0.86  # of a scene: how high a bust is, and how wide at most
_ASIDE = 0.28  # of a scene's width: how far from its edge somebody stands


def draw_portrait(colours: Complexion, genre: str, seed: int, side: int) -> Image.Image:
    """A portrait: the bust before a wall, in the light of a lamp."""
    canvas = Canvas(side, side, shadows=genre == "paper-cut")
    sitter = _sitter(canvas, colours, seed, (side / 2, side))
    _ground(sitter, random.Random(f"wall/{seed}"))  # noqa: S311  # looks, not a secret
    _bust(sitter)
    _light(sitter)
    return canvas.image


def draw_in_scene(canvas: Canvas, right: bool, colours: Complexion, seed: int) -> None:
    """The bust of the same portrait in the foreground of a scene, at one side of it."""
    size = min(canvas.height * _TALL, canvas.width * _WIDE)
    aside = max(canvas.width * _ASIDE, size * 0.42)
    _bust(_sitter(canvas, colours, seed, (canvas.width - aside if right else aside, size)))


def _sitter(canvas: Canvas, colours: Complexion, seed: int, place: tuple[float, float]) -> Sitter:
    """Somebody at the canvas's foot: `place` is the middle of it, and the bust's height."""
    dice = random.Random(f"face/{seed}")  # noqa: S311  # looks, not a secret
    pen = Brush(canvas, place[0], canvas.height, place[1], dice.choice((1, -1)))
    head = (0.0, 0.57, dice.uniform(0.155, 0.178), dice.uniform(0.2, 0.222))
    return Sitter(pen, colours, dice, head)


def _bust(sitter: Sitter) -> None:
    dice = sitter.dice
    hairdo = dice.choice(hairdos.HAIRDOS)
    hairdo.back(sitter)
    _neck(sitter)
    dice.choice(clothes.TOPS)(sitter)
    _head(sitter)
    canvas = sitter.pen.canvas
    shadows, canvas.shadows = canvas.shadows, False  # of paper, eyes would look beaten
    _eyes(sitter)
    _nose_and_mouth(sitter)
    canvas.shadows = shadows
    if not hairdo.long and dice.random() < 0.4:
        hairdos.beard(sitter)
    hairdo.front(sitter)
    if dice.random() < 0.4:
        clothes.glasses(sitter)


def _ground(sitter: Sitter, dice: random.Random) -> None:
    """A wall that is lit behind the head, with one large shape of its own."""
    pen, colours = sitter.pen, sitter.colours
    deep = mix_colours(colours.ground, colours.ink, 0.45)
    pen.canvas.sky([(0, mix_colours(colours.ground, colours.light, 0.25)), (1, deep)])
    bright = mix_colours(colours.ground, colours.light, 0.55)
    match dice.randrange(4):
        case 0:
            pen.disc(bright, 0, 0.6, 0.36, 0.55)
        case 1:
            for number in range(7):
                left = -0.62 + number * 0.19
                pen.poly(bright, (left, -0.1), (left + 0.09, -0.1), (left + 0.5, 1.1),
                         (left + 0.41, 1.1), opacity=0.22)  # fmt: skip
        case 2:
            for number in range(26):
                x, y = dice.uniform(-0.5, 0.5), dice.uniform(0.15, 1)
                pen.disc(bright, x, y, dice.uniform(0.008, 0.05), 0.1 + number % 4 * 0.09)
        case _:
            pen.box(bright, -0.3, 0.12, 0.3, 0.93, corner=0.3, opacity=0.5)
    pen.glow(colours.light, 0.12, 0.72, 0.5, 0.35)


def _neck(sitter: Sitter) -> None:
    pen, skin = sitter.pen, sitter.colours.skin
    x, y, wide, high = sitter.head
    shade = mix_colours(skin, sitter.colours.ink, 0.2)
    pen.poly((shade, skin), (x - wide * 0.46, y - high * 0.5), (x + wide * 0.46, y - high * 0.5),
             (x + wide * 0.62, 0.2), (x - wide * 0.62, 0.2))  # fmt: skip
    pen.oval(shade, x - 0.01, y - high * 0.98, wide * 0.5, high * 0.2, 0.6)


def _head(sitter: Sitter) -> None:
    pen, colours, dice = sitter.pen, sitter.colours, sitter.dice
    x, y, wide, high = sitter.head
    skin, shade = colours.skin, mix_colours(colours.skin, colours.ink, 0.16)
    for ear in (-1, 1):
        pen.oval(shade if ear < 0 else skin, x + ear * wide * 0.99, y - high * 0.06, 0.028, 0.043)
        pen.oval(
            mix_colours(shade, colours.ink, 0.12),
            x + ear * wide * 1.0,
            y - high * 0.06,
            0.014,
            0.026,
        )
    jaw, chin = dice.uniform(0.7, 0.86), dice.uniform(0.26, 0.42)
    outline = [(0, 1.0), (0.62, 0.86), (0.98, 0.34), (1.0, -0.1), (jaw, -0.62), (chin, -0.95)]
    outline += [(0, -1.02), *((-a, b) for a, b in reversed(outline[1:]))]
    pen.blob((mix_colours(skin, colours.light, 0.12), mix_colours(skin, colours.ink, 0.05)),
             *((x + a * wide, y + b * high) for a, b in outline))  # fmt: skip
    side = [(-0.5, 0.9), (-0.98, 0.34), (-1.0, -0.1), (-jaw, -0.62), (-chin, -0.95), (-0.1, -1.0),
            (-0.52, -0.6), (-0.7, -0.1), (-0.66, 0.4)]  # fmt: skip
    pen.blob(shade, *((x + a * wide * 0.995, y + b * high * 0.995) for a, b in side), opacity=0.5)
    blush = mix_colours(skin, (214, 84, 84), 0.5)
    for cheek in (-1, 1):
        pen.oval(blush, x + cheek * wide * 0.56, y - high * 0.28, 0.036, 0.024, 0.32)
    if dice.random() < 0.3:
        for _ in range(12):
            place = x + dice.choice((-1, 1)) * dice.uniform(0.2, 0.66) * wide
            pen.disc(mix_colours(skin, colours.ink, 0.35), place, y - dice.uniform(0.1, 0.4) * high,
                     0.0032, 0.6)  # fmt: skip


def _eyes(sitter: Sitter) -> None:
    pen, colours, dice = sitter.pen, sitter.colours, sitter.dice
    x, y, wide, high = sitter.head
    open_ = dice.uniform(0.86, 1.12)
    look, raised = dice.uniform(-0.004, 0.006), dice.uniform(-0.006, 0.014)
    lash = mix_colours(colours.ink, colours.hair, 0.2)
    brow = mix_colours(colours.hair, colours.ink, 0.35)
    for side in (-1, 1):
        at, level = x + side * wide * 0.44, y - high * 0.02
        pen.oval((246, 243, 238), at, level, 0.034, 0.0225 * open_)
        pen.disc(mix_colours(colours.eyes, colours.ink, 0.3), at + look, level, 0.0195 * open_)
        pen.disc(colours.eyes, at + look, level - 0.002, 0.0155 * open_)
        pen.disc((16, 14, 18), at + look, level, 0.0085)
        pen.disc((255, 255, 255), at + look + 0.007, level + 0.007, 0.0048)
        arch = ((-0.038, 0.002), (-0.02, 0.02 * open_), (0.014, 0.023 * open_), (0.038, 0.006))
        pen.curve(lash, 0.0075, *((at + side * a, level + b) for a, b in arch))
        pen.curve(mix_colours(colours.skin, colours.ink, 0.3), 0.003,
                  *((at + side * a, level - b * 0.9) for a, b in arch), opacity=0.5)  # fmt: skip
        up = raised if side > 0 else raised * 0.4
        bow = ((-0.044, 0.044), (-0.016, 0.057), (0.02, 0.058), (0.05, 0.042))
        pen.curve(brow, 0.0125, *((at + side * a, level + b + up) for a, b in bow))


def _nose_and_mouth(sitter: Sitter) -> None:
    pen, colours, dice = sitter.pen, sitter.colours, sitter.dice
    x, y, wide, high = sitter.head
    shade = mix_colours(colours.skin, colours.ink, 0.26)
    tip = dice.uniform(0.012, 0.022)
    pen.curve(shade, 0.0065, (x + 0.012, y + 0.01), (x + tip + 0.006, y - high * 0.28),
              (x + tip, y - high * 0.36), (x - 0.012, y - high * 0.37))  # fmt: skip
    pen.oval(
        mix_colours(colours.skin, colours.light, 0.5),
        x + tip - 0.006,
        y - high * 0.3,
        0.009,
        0.012,
        0.5,
    )
    lips = mix_colours(colours.skin, (176, 56, 66), dice.uniform(0.4, 0.65))
    level, half, smile = y - high * 0.62, wide * dice.uniform(0.34, 0.44), dice.uniform(0.012, 0.03)
    if dice.random() < 0.45:
        shape = (
            (-half, smile),
            (0, 0.004),
            (half, smile),
            (half * 0.5, -0.022),
            (-half * 0.5, -0.022),
        )
        pen.blob(mix_colours(lips, colours.ink, 0.55), *((x + a, level + b) for a, b in shape))
        teeth = ((-half * 0.7, smile * 0.62), (0, 0.003), (half * 0.7, smile * 0.62), (0, -0.006))
        pen.blob((250, 247, 242), *((x + a, level + b) for a, b in teeth))
    else:
        bow = ((-half, smile), (-half * 0.4, 0.002), (half * 0.4, 0.0), (half, smile * 1.2))
        pen.curve(
            mix_colours(lips, colours.ink, 0.35), 0.008, *((x + a, level + b) for a, b in bow)
        )
        pen.oval(lips, x, level - 0.012, half * 0.5, 0.0085, 0.75)
    pen.curve(shade, 0.004, (x - 0.02, level - 0.04), (x, level - 0.045), (x + 0.02, level - 0.04),
              opacity=0.6)  # fmt: skip


def _light(sitter: Sitter) -> None:
    """One lamp from the side that the sitter looks to, one faint light behind."""
    sitter.pen.glow(sitter.colours.light, 0.34, 0.86, 0.5, 0.22)
    sitter.pen.glow(
        mix_colours(sitter.colours.ground, sitter.colours.ink, 0.4), -0.4, 0.2, 0.45, 0.28
    )
