"""Things people make and use: books, lamps, machines, money, music, food."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def book(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.oval(colours.ink, 0, -0.02, 0.68, 0.06, 0.3)
    pen.blob(
        colours.accent, (-0.66, 0.02), (-0.6, 0.3), (0, 0.2), (0.6, 0.3), (0.66, 0.02), (0, -0.06)
    )
    page = mix_colours(colours.paper, colours.sun, 0.15)
    for side in (-1, 1):
        leaf = (
            (0, 0.02),
            (side * 0.3, 0.1),
            (side * 0.6, 0.06),
            (side * 0.55, 0.34),
            (side * 0.28, 0.4),
            (0, 0.28),
        )
        pen.poly((page, mix_colours(page, colours.far, 0.25 if side > 0 else 0.1)), *leaf)
        for row in range(5):
            lift = 0.11 + row * 0.05
            pen.curve(
                mix_colours(colours.ink, page, 0.45),
                0.01,
                (side * 0.07, lift - 0.01),
                (side * 0.28, lift + 0.055),
                (side * 0.48, lift + 0.035),
                opacity=0.6,
            )
    pen.glow(stage.light(), 0, 0.5, 0.6, 0.55)
    for number in range(9):
        turn = math.pi * (0.15 + 0.7 * number / 8)
        reach = 0.45 + 0.2 * math.sin(number * 2.4)
        pen.disc(
            stage.light(),
            math.cos(turn) * reach,
            0.34 + math.sin(turn) * reach,
            0.012 + 0.008 * (number % 3),
        )


def bulb(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.glow(stage.light(), 0, 0.2, 0.95, 0.75)
    for number in range(9):
        turn = math.pi * (-0.1 + 1.2 * number / 8)
        a, b = math.cos(turn), math.sin(turn)
        pen.line(stage.light(), 0.028, (a * 0.44, 0.2 + b * 0.44), (a * 0.56, 0.2 + b * 0.56))
    glass = (
        (-0.11, -0.18),
        (-0.2, -0.02),
        (-0.31, 0.2),
        (-0.22, 0.44),
        (0, 0.52),
        (0.22, 0.44),
        (0.31, 0.2),
        (0.2, -0.02),
        (0.11, -0.18),
    )
    pen.blob((mix_colours(stage.light(), colours.paper, 0.5), colours.second), *glass)
    pen.curve(
        colours.accent,
        0.024,
        (-0.08, -0.16),
        (-0.11, 0.14),
        (-0.03, 0.06),
        (0.03, 0.06),
        (0.11, 0.14),
        (0.08, -0.16),
    )
    pen.blob(colours.paper, (-0.22, 0.22), (-0.15, 0.4), (-0.1, 0.36), (-0.16, 0.2), opacity=0.75)
    for step in range(3):
        pen.box(
            mix_colours(colours.ink, colours.far, 0.35),
            -0.115,
            -0.27 - step * 0.075,
            0.115,
            -0.21 - step * 0.075,
            corner=0.025,
        )
    pen.box(colours.ink, -0.06, -0.47, 0.06, -0.42, corner=0.025)


def clock(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.disc(colours.ink, 0.02, -0.03, 0.5, 0.25)
    pen.disc((colours.accent, mix_colours(colours.accent, colours.ink, 0.4)), 0, 0, 0.5)
    pen.disc((colours.paper, mix_colours(colours.paper, colours.far, 0.25)), 0, 0, 0.42)
    for hour in range(12):
        turn = hour * math.pi / 6
        a, b = math.sin(turn), math.cos(turn)
        inner = 0.33 if hour % 3 else 0.3
        pen.line(
            colours.ink, 0.02 if hour % 3 else 0.034, (a * inner, b * inner), (a * 0.37, b * 0.37)
        )
    for turn, reach, thick in ((-0.9, 0.2, 0.04), (0.75, 0.3, 0.028)):
        pen.line(colours.ink, thick, (0, 0), (math.sin(turn) * reach, math.cos(turn) * reach))
    pen.line(colours.accent, 0.012, (-0.06, 0.05), (0.25, -0.2))
    pen.disc(colours.accent, 0, 0, 0.036)


def coins(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    gold = colours.second
    edge = mix_colours(gold, colours.ink, 0.4)
    pen.oval(colours.ink, 0.05, 0, 0.75, 0.06, 0.3)
    for place, count in ((-0.48, 3), (-0.1, 6), (0.3, 10)):
        for number in range(count):
            low = 0.02 + number * 0.075
            pen.oval(edge, place, low, 0.19, 0.062)
            pen.box(edge, place - 0.19, low, place + 0.19, low + 0.045)
            pen.oval(
                (mix_colours(gold, colours.paper, 0.35), gold), place, low + 0.045, 0.19, 0.062
            )
        pen.oval(
            mix_colours(gold, colours.ink, 0.2), place, 0.02 + count * 0.075 - 0.03, 0.11, 0.033
        )
    sprout = mix_colours(colours.near, colours.shallow, 0.3)
    top = 0.77
    pen.curve(sprout, 0.03, (0.3, top), (0.31, top + 0.12), (0.3, top + 0.22))
    pen.blob(sprout, (0.3, top + 0.12), (0.42, top + 0.26), (0.56, top + 0.26), (0.46, top + 0.14))
    pen.blob(
        mix_colours(sprout, colours.paper, 0.2),
        (0.3, top + 0.18),
        (0.2, top + 0.32),
        (0.08, top + 0.32),
        (0.16, top + 0.2),
    )


def chart(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    tones = (colours.shallow, colours.second, colours.accent)
    heights = (0.24, 0.36, 0.32, 0.54, 0.72, 0.95)
    for number, tall in enumerate(heights):
        left = -0.72 + number * 0.25
        tone = tones[number % 3]
        pen.box(
            (mix_colours(tone, colours.paper, 0.2), tone), left, 0.0, left + 0.18, tall, corner=0.03
        )
    path = tuple((-0.63 + number * 0.25, tall + 0.14) for number, tall in enumerate(heights))
    pen.line(colours.paper, 0.03, *path)
    for a, b in path:
        pen.disc(colours.paper, a, b, 0.04)
        pen.disc(colours.accent, a, b, 0.022)


def guitar(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    wood = mix_colours(colours.second, colours.accent, 0.35)
    pen.oval(colours.ink, 0, 0, 0.34, 0.04, 0.3)
    pen.box(mix_colours(colours.ink, wood, 0.3), -0.04, 0.5, 0.04, 1.12)
    pen.box(colours.ink, -0.065, 1.1, 0.065, 1.26, corner=0.03)
    body = (
        (0, 0.0),
        (-0.28, 0.06),
        (-0.31, 0.26),
        (-0.18, 0.38),
        (-0.23, 0.54),
        (-0.1, 0.64),
        (0.1, 0.64),
        (0.23, 0.54),
        (0.18, 0.38),
        (0.31, 0.26),
        (0.28, 0.06),
    )
    pen.blob((mix_colours(wood, colours.paper, 0.25), wood), *body)
    pen.disc(colours.ink, 0, 0.42, 0.085)
    pen.box(colours.ink, -0.1, 0.16, 0.1, 0.19, corner=0.01)
    for string in (-0.022, 0.0, 0.022):
        pen.line(colours.paper, 0.005, (string, 0.18), (string, 1.12), opacity=0.8)
    for a, b, r in ((0.46, 0.8, 0.06), (0.66, 1.02, 0.05), (-0.5, 0.96, 0.05)):
        pen.oval(colours.accent, a, b, r, r * 0.75)
        pen.line(colours.accent, 0.018, (a + r * 0.85, b), (a + r * 0.85, b + 0.24))
        pen.curve(
            colours.accent,
            0.02,
            (a + r * 0.85, b + 0.24),
            (a + r * 1.8, b + 0.19),
            (a + r * 1.9, b + 0.11),
        )


def heart(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.glow(colours.accent, 0, 0.05, 0.9, 0.55)
    shape = []
    for step in range(40):
        t = step / 40 * 2 * math.pi
        a = 16 * math.sin(t) ** 3
        b = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
        shape.append((a * 0.026, b * 0.026))
    pen.poly(
        (
            mix_colours(colours.accent, colours.paper, 0.2),
            mix_colours(colours.accent, colours.ink, 0.2),
        ),
        *shape,
    )
    pen.blob(colours.paper, (-0.3, 0.1), (-0.24, 0.24), (-0.12, 0.26), (-0.2, 0.12), opacity=0.6)
