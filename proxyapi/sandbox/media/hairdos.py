"""Hair: what falls behind the shoulders, what lies on the forehead, and beards."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from proxyapi.sandbox.media.curves import Point
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.sitter import Sitter

Part = Callable[[Sitter], None]
Paint = tuple[Colour, Colour]


@dataclass(frozen=True, slots=True)
class Hairdo:
    back: Part
    front: Part
    long: bool = False


def beard(sitter: Sitter) -> None:
    """From one ear to the other, around the mouth."""
    hair, skin = sitter.colours.hair, sitter.colours.skin
    colour = mix_colours(hair, sitter.colours.ink, 0.6 if sum(hair) > sum(skin) else 0.12)
    shape = [(-0.99, 0.0), (-0.84, -0.3), (-0.46, -0.42), (-0.2, -0.44), (0, -0.48), (0.2, -0.44),
             (0.46, -0.42), (0.84, -0.3), (0.99, 0.0), (0.94, -0.5), (0.62, -0.95), (0, -1.2),
             (-0.62, -0.95), (-0.94, -0.5)]  # fmt: skip
    x, y, wide, high = sitter.head
    lips = mix_colours(sitter.colours.skin, (176, 56, 66), 0.5)
    _shape(sitter, colour, shape)
    sitter.pen.curve(mix_colours(lips, sitter.colours.ink, 0.3), 0.011,
                     (x - wide * 0.3, y - high * 0.6), (x, y - high * 0.67),
                     (x + wide * 0.3, y - high * 0.58))  # fmt: skip
    for side in (-1, 1):
        strand = (
            (x + side * wide * 0.7, y - high * 0.5),
            (x + side * wide * 0.5, y - high * 0.85),
        )
        sitter.pen.curve(
            mix_colours(colour, sitter.colours.light, 0.16), 0.004, *strand, opacity=0.7
        )


def _nothing(sitter: Sitter) -> None:
    """Short hair has no back."""


def _waves(sitter: Sitter) -> None:
    shape = [(0, 1.24), (0.8, 1.08), (1.26, 0.5), (1.3, -0.3), (1.5, -1.0), (1.36, -1.7),
             (0.9, -1.9), (-0.9, -1.9), (-1.36, -1.7), (-1.46, -1.0), (-1.28, -0.3),
             (-1.26, 0.5), (-0.8, 1.08)]  # fmt: skip
    _shape(sitter, _paint(sitter, 0.3), shape)


def _bob(sitter: Sitter) -> None:
    shape = [(0, 1.22), (0.86, 1.02), (1.24, 0.4), (1.34, -0.4), (1.12, -0.95), (0.6, -1.0),
             (-0.6, -1.0), (-1.12, -0.95), (-1.34, -0.4), (-1.24, 0.4), (-0.86, 1.02)]  # fmt: skip
    _shape(sitter, _paint(sitter, 0.25), shape)


def _bun(sitter: Sitter) -> None:
    x, y, wide, high = sitter.head
    sitter.pen.disc(_paint(sitter, 0.2), x - wide * 0.2, y + high * 1.26, wide * 0.52)
    _shape(sitter, _paint(sitter, 0.2), _around(1.14, 1.12))


def _curls(sitter: Sitter) -> None:
    x, y, wide, high = sitter.head
    for number in range(19):
        turn = math.pi * (-0.22 + 1.44 * number / 18)
        size = wide * (0.34 + 0.07 * (number * 7 % 5) / 4)
        place = (x + math.cos(turn) * wide * 1.16, y + high * 0.2 + math.sin(turn) * high * 0.98)
        sitter.pen.disc(_paint(sitter, 0.18 + number % 3 * 0.06), *place, size)


def _fringe(sitter: Sitter) -> None:
    """Parted at one side, swept over to the other."""
    shape = [(-1.1, -0.1), (-1.16, 0.5), (-0.8, 1.08), (0, 1.2), (0.8, 1.06), (1.14, 0.46),
             (1.08, -0.16), (0.98, 0.22), (0.72, 0.5), (0.3, 0.62), (-0.3, 0.5), (-0.74, 0.4),
             (-0.96, 0.2)]  # fmt: skip
    _shape(sitter, _paint(sitter, 0.0), shape)
    _strands(
        sitter, [((-0.6, 0.98), (-0.2, 0.78), (0.3, 0.7)), ((-0.2, 1.1), (0.3, 0.9), (0.76, 0.6))]
    )


def _quiff(sitter: Sitter) -> None:
    """Short at the sides, up and over in front."""
    shape = [(-1.05, 0.1), (-1.1, 0.56), (-0.86, 1.0), (-0.5, 1.3), (0.1, 1.46), (0.74, 1.36),
             (1.0, 1.06), (1.08, 0.56), (1.03, 0.1), (0.92, 0.44), (0.66, 0.7), (0.1, 0.76),
             (-0.5, 0.66), (-0.86, 0.4)]  # fmt: skip
    _shape(sitter, _paint(sitter, 0.0), shape)
    _strands(
        sitter,
        [((-0.62, 0.84), (-0.3, 1.14), (0.3, 1.26)), ((-0.2, 0.84), (0.2, 1.06), (0.7, 1.14))],
    )


def _crop(sitter: Sitter) -> None:
    shape = [(-1.04, 0.06), (-1.08, 0.5), (-0.8, 0.98), (0, 1.16), (0.8, 0.98), (1.08, 0.5),
             (1.04, 0.06), (0.9, 0.5), (0.5, 0.7), (0, 0.66), (-0.5, 0.7), (-0.9, 0.5)]  # fmt: skip
    _shape(sitter, _paint(sitter, 0.1), shape)


def _spikes(sitter: Sitter) -> None:
    points = []
    for number in range(11):
        turn = math.pi * (-0.04 + 1.08 * number / 10)
        far = 1.42 if number % 2 else 1.1
        points.append((math.cos(turn) * far * 1.04, 0.16 + math.sin(turn) * far))
    shape = [
        *points,
        (-0.9, 0.44),
        (-0.5, 0.7),
        (-0.2, 0.52),
        (0.1, 0.74),
        (0.42, 0.54),
        (0.84, 0.5),
    ]
    x, y, wide, high = sitter.head
    sitter.pen.poly(_paint(sitter, 0.0), *((x + a * wide, y + b * high) for a, b in shape))


def _hat(sitter: Sitter) -> None:
    """A knitted hat with a rolled edge."""
    x, y, wide, high = sitter.head
    wool = mix_colours(sitter.colours.second, sitter.colours.ink, 0.1)
    light, ink = sitter.colours.light, sitter.colours.ink
    shades = mix_colours(wool, light, 0.2), mix_colours(wool, ink, 0.25)
    _shape(sitter, shades,
           [(-1.12, 0.4), (-1.08, 0.95), (-0.6, 1.42), (0, 1.55), (0.6, 1.42), (1.08, 0.95),
            (1.12, 0.4), (0, 0.52)])  # fmt: skip
    edge = mix_colours(wool, sitter.colours.ink, 0.18)
    sitter.pen.box(
        (mix_colours(edge, sitter.colours.light, 0.15), edge),
        x - wide * 1.18,
        y + high * 0.36,
        x + wide * 1.18,
        y + high * 0.66,
        corner=0.028,
    )
    for rib in range(-5, 6):
        at = x + rib * wide * 0.21
        sitter.pen.line(mix_colours(edge, sitter.colours.ink, 0.3), 0.004, (at, y + high * 0.4),
                        (at, y + high * 0.62), opacity=0.6)  # fmt: skip
    sitter.pen.disc(mix_colours(wool, sitter.colours.light, 0.3), x, y + high * 1.58, wide * 0.26)


HAIRDOS = (
    Hairdo(_waves, _fringe, long=True),
    Hairdo(_bob, _fringe, long=True),
    Hairdo(_bun, _crop, long=True),
    Hairdo(_curls, _crop),
    Hairdo(_nothing, _quiff),
    Hairdo(_nothing, _crop),
    Hairdo(_nothing, _spikes),
    Hairdo(_nothing, _hat),
    Hairdo(_waves, _hat, long=True),
)


def _shape(sitter: Sitter, paint: Colour | Paint, points: list[Point]) -> None:
    """Points in half widths and half heights of the head, from its middle."""
    x, y, wide, high = sitter.head
    sitter.pen.blob(paint, *((x + a * wide, y + b * high) for a, b in points))


def _around(across: float, up: float) -> list[Point]:
    turns = [2 * math.pi * number / 14 for number in range(14)]
    return [(math.cos(turn) * across, 0.1 + math.sin(turn) * up) for turn in turns]


def _strands(sitter: Sitter, strands: list[tuple[Point, ...]]) -> None:
    x, y, wide, high = sitter.head
    shine = mix_colours(sitter.colours.hair, sitter.colours.light, 0.35)
    for strand in strands:
        sitter.pen.curve(
            shine, 0.006, *((x + a * wide, y + b * high) for a, b in strand), opacity=0.55
        )


def _paint(sitter: Sitter, darker: float) -> Paint:
    hair, ink = sitter.colours.hair, sitter.colours.ink
    return mix_colours(mix_colours(hair, sitter.colours.light, 0.16), ink, darker), mix_colours(
        hair, ink, darker + 0.18
    )
