"""What grows, and what stands in the country: trees, flowers, houses, bridges, volcanoes."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def tree(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    bark = mix_colours(colours.ink, colours.second, 0.2)
    pen.oval(colours.ink, 0, 0.0, 0.4, 0.035, 0.3)
    pen.poly(bark, (-0.09, 0), (-0.045, 0.5), (0.045, 0.5), (0.1, 0))
    for a, b in ((-0.22, 0.7), (0.24, 0.66), (0.02, 0.8)):
        pen.line(bark, 0.04, (0, 0.4), (a, b))
    leaf = mix_colours(colours.near, colours.far, 0.2)
    if stage.hour == "dusk":
        leaf = mix_colours(colours.accent, colours.near, 0.3)
    crown = (
        (-0.3, 0.68, 0.22),
        (0.3, 0.66, 0.22),
        (0, 0.62, 0.24),
        (-0.18, 0.88, 0.22),
        (0.18, 0.88, 0.22),
        (0, 1.0, 0.18),
    )
    for a, b, r in crown:
        pen.disc((leaf, mix_colours(leaf, colours.ink, 0.25)), a, b, r)
    for a, b, r in crown:
        pen.disc(mix_colours(leaf, colours.sun, 0.28), a - 0.03, b + 0.05, r * 0.62, 0.55)
    for _ in range(14):
        turn, reach = stage.dice.uniform(0, 6.28), stage.dice.uniform(0, 0.4)
        pen.disc(colours.accent, math.cos(turn) * reach, 0.78 + math.sin(turn) * reach * 0.8, 0.018)


def flower(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    stem = mix_colours(colours.near, colours.shallow, 0.25)
    pen.curve(stem, 0.035, (0.04, -0.1), (-0.02, 0.3), (0.0, 0.72))
    for side, low in ((1, 0.2), (-1, 0.34)):
        pen.blob(
            (mix_colours(stem, colours.paper, 0.2), stem),
            (0, low),
            (side * 0.16, low + 0.18),
            (side * 0.36, low + 0.2),
            (side * 0.22, low + 0.04),
        )
    for ring, (count, reach, tone) in enumerate(
        ((10, 0.24, colours.accent), (8, 0.16, mix_colours(colours.accent, colours.paper, 0.35)))
    ):
        for petal in range(count):
            turn = petal / count * 2 * math.pi + ring * 0.3
            a, b = math.cos(turn), math.sin(turn)
            points = (
                (a * 0.06, 0.74 + b * 0.06),
                (a * reach - b * 0.07, 0.74 + b * reach + a * 0.07),
                (a * reach * 1.35, 0.74 + b * reach * 1.35),
                (a * reach + b * 0.07, 0.74 + b * reach - a * 0.07),
            )
            pen.blob(tone, *points)
    pen.disc((colours.second, mix_colours(colours.second, colours.ink, 0.3)), 0, 0.74, 0.1)


def mushroom(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.8, 1)
    for offset, scale in ((0.5, 0.5), (-0.46, 0.36), (0.0, 1.0)):
        _cap(stage, Brush(stage.canvas, x + offset * size * 0.8, y, size * 0.8 * scale))
    pen.oval(colours.ink, 0, 0, 0.5, 0.03, 0.25)


def _cap(stage: Stage, pen: Brush) -> None:
    colours = stage.colours
    stalk = mix_colours(colours.paper, colours.far, 0.15)
    pen.blob(
        (stalk, mix_colours(stalk, colours.ink, 0.2)),
        (-0.14, 0),
        (-0.09, 0.3),
        (-0.1, 0.56),
        (0.1, 0.56),
        (0.09, 0.3),
        (0.14, 0),
    )
    cap = ((-0.46, 0.5), (-0.36, 0.8), (0, 0.98), (0.36, 0.8), (0.46, 0.5), (0, 0.44))
    pen.blob(
        (
            mix_colours(colours.accent, colours.paper, 0.12),
            mix_colours(colours.accent, colours.ink, 0.25),
        ),
        *cap,
    )
    for a, b, r in (
        (-0.22, 0.68, 0.07),
        (0.04, 0.8, 0.085),
        (0.26, 0.62, 0.06),
        (-0.03, 0.58, 0.045),
    ):
        pen.oval(colours.paper, a, b, r, r * 0.8)


def house(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    wall = mix_colours(colours.paper, colours.second, 0.18)
    if stage.dark:
        wall = mix_colours(wall, colours.deep, 0.45)
    pen.oval(colours.ink, 0, 0.0, 0.6, 0.04, 0.3)
    pen.box(mix_colours(colours.accent, colours.ink, 0.45), 0.2, 0.62, 0.32, 0.96)
    smoke = mix_colours(colours.paper, colours.horizon, 0.35)
    for number in range(4):
        pen.disc(
            smoke,
            0.27 + number * 0.07,
            1.04 + number * 0.11,
            0.05 + number * 0.018,
            0.5 - number * 0.1,
        )
    pen.box((wall, mix_colours(wall, colours.ink, 0.2)), -0.44, 0.0, 0.44, 0.5)
    roof = ((-0.56, 0.46), (-0.3, 0.84), (0.3, 0.84), (0.56, 0.46))
    pen.poly((colours.accent, mix_colours(colours.accent, colours.ink, 0.35)), *roof)
    for row in range(3):
        pen.line(
            mix_colours(colours.accent, colours.ink, 0.45),
            0.01,
            (-0.48 + row * 0.07, 0.56 + row * 0.1),
            (0.48 - row * 0.07, 0.56 + row * 0.1),
            opacity=0.6,
        )
    if stage.hour != "day":
        pen.glow(stage.light(), -0.22, 0.28, 0.4, 0.5)
    for left in (-0.32, 0.14):
        pen.box(colours.ink, left - 0.015, 0.165, left + 0.195, 0.385)
        pen.box(stage.light(), left, 0.18, left + 0.18, 0.37)
        pen.box(colours.ink, left + 0.083, 0.18, left + 0.097, 0.37)
    pen.box(mix_colours(colours.deep, colours.ink, 0.2), -0.09, 0.0, 0.09, 0.32, corner=0.03)
    pen.disc(colours.second, 0.055, 0.15, 0.014)


def castle(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    stone = mix_colours(colours.far, colours.paper, 0.3 if not stage.dark else 0.08)
    for left, right, tall in (
        (-0.52, -0.3, 0.62),
        (0.3, 0.52, 0.62),
        (-0.15, 0.15, 0.86),
        (-0.34, 0.34, 0.44),
    ):
        pen.box((stone, mix_colours(stone, colours.ink, 0.35)), left, -0.03, right, tall)
        step = (right - left) / 5
        for tooth in range(3):
            a = left + tooth * 2 * step
            pen.box(stone, a, tall - 0.01, a + step, tall + 0.05)
    for place, low, wide in ((-0.41, 0.66, 0.16), (0.41, 0.66, 0.16), (0.0, 0.9, 0.2)):
        pen.poly(
            (colours.accent, mix_colours(colours.accent, colours.ink, 0.35)),
            (place - wide, low),
            (place, low + 0.34),
            (place + wide, low),
        )
        pen.line(colours.ink, 0.012, (place, low + 0.32), (place, low + 0.48))
        pen.poly(
            colours.second, (place, low + 0.48), (place + 0.12, low + 0.44), (place, low + 0.4)
        )
    for a, b in ((-0.41, 0.42), (0.41, 0.42), (0, 0.62), (-0.2, 0.28), (0.2, 0.28)):
        pen.box(stage.light(), a - 0.025, b, a + 0.025, b + 0.1, corner=0.024)
    pen.box(mix_colours(colours.ink, colours.accent, 0.2), -0.09, -0.03, 0.09, 0.22, corner=0.08)


def bridge(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(stage.width / 2, y, size, 1)
    steel, dark = colours.accent, mix_colours(colours.accent, colours.ink, 0.3)
    reach = stage.width / size / 2 + 0.2
    for tower in (-0.75, 0.75):
        for leg in (-0.05, 0.05):
            pen.box((steel, dark), tower + leg - 0.022, -0.2, tower + leg + 0.022, 1.0)
        for beam in (0.95, 0.66, 0.4):
            pen.box(dark, tower - 0.07, beam, tower + 0.07, beam + 0.04)
    cable = [(step / 12 * 0.75, 0.3 + 0.66 * (step / 12) ** 2) for step in range(-12, 13)]
    pen.line(dark, 0.018, *cable)
    for side in (-1, 1):
        pen.curve(dark, 0.018, (side * 0.75, 0.96), (side * 1.2, 0.52), (side * reach, 0.24))
    for a, b in cable:
        pen.line(dark, 0.006, (a, 0.2), (a, b), opacity=0.8)
    pen.box((steel, dark), -reach, 0.16, reach, 0.22)
    for number in range(20):
        pen.disc(stage.light(), -reach + number * reach / 9.5, 0.245, 0.011)


def volcano(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 1.1, 1)
    smoke = mix_colours(colours.far, colours.ink, 0.35)
    for number in range(9):
        turn = number * 2.4
        reach = 0.05 + number * 0.035
        pen.disc(
            mix_colours(smoke, colours.accent, max(0.0, 0.4 - number * 0.06)),
            math.sin(turn) * reach,
            0.86 + number * 0.085,
            0.1 + number * 0.022,
            0.8,
        )
    pen.glow(colours.accent, 0, 0.8, 0.75, 0.9)
    rock = mix_colours(colours.near, colours.ink, 0.4)
    slope = ((-1.15, -0.1), (-0.5, 0.3), (-0.17, 0.76), (0.17, 0.76), (0.5, 0.3), (1.15, -0.1))
    pen.poly((mix_colours(rock, colours.accent, 0.25), rock), *slope)
    pen.oval(colours.second, 0, 0.76, 0.17, 0.03)
    for path in (
        ((0, 0.76), (-0.06, 0.55), (-0.02, 0.4), (-0.18, 0.12)),
        ((0.08, 0.76), (0.14, 0.5), (0.28, 0.32), (0.3, 0.08)),
        ((-0.1, 0.75), (-0.22, 0.52), (-0.3, 0.36), (-0.5, 0.2)),
    ):
        pen.curve(colours.accent, 0.05, *path)
        pen.curve(mix_colours(colours.second, colours.paper, 0.3), 0.02, *path)
    for _ in range(16):
        a, b = stage.dice.uniform(-0.4, 0.4), stage.dice.uniform(0.8, 1.3)
        pen.disc(colours.second, a, b, stage.dice.uniform(0.006, 0.016))
