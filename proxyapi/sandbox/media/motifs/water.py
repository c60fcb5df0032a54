"""Water: the open sea, and the world below it."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def sea_far(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    for number in range(2):
        hill = stage.rolling(stage.horizon + 0.01, 0.05 - number * 0.02, 0.7)
        canvas.ridge(hill, stage.depth(0.1 + number * 0.2))
    water = stage.rolling(stage.horizon + 0.012, 0.0, 1)
    far = mix_colours(colours.shallow, colours.horizon, 0.35)
    canvas.ridge(water, (far, colours.deep))
    _glitter(stage)
    for number in range(7):
        y = stage.horizon + 0.03 + number * number * 0.0045
        _crests(stage, y, 0.10 + number * 0.01, number)


def _glitter(stage: Stage) -> None:
    """The path of light that sun or moon lay on the water."""
    top, x = stage.horizon * stage.height, stage.sun_at * stage.width
    tone = mix_colours(stage.colours.sun, stage.colours.horizon, 0.25)
    for _ in range(130):
        share = stage.dice.random() ** 1.6
        y = top + stage.short * (0.02 + share * 0.38)
        reach = stage.short * (0.018 + share * 0.09)
        away = stage.dice.gauss(0, 0.5) * reach * 2
        thick = max(1.0, stage.short * 0.0016 * (1 + share * 2))
        stage.canvas.ellipse(
            x + away, y, reach * stage.dice.uniform(0.2, 0.6), thick, tone, 0.5 - share * 0.25
        )


def _crests(stage: Stage, place: float, length: float, number: int) -> None:
    tone = mix_colours(stage.colours.paper, stage.colours.shallow, 0.35)
    for _ in range(5):
        x = stage.dice.uniform(-0.05, 1.0) * stage.width
        y = place * stage.height + stage.dice.uniform(-1, 1) * stage.short * 0.008
        wide = stage.short * length * stage.dice.uniform(0.3, 1.0)
        points = [(x + wide * s, y - math.sin(s * 3.14) * wide * 0.05) for s in (0, 0.3, 0.6, 1)]
        stage.canvas.curve(points, max(1.0, stage.short * 0.0015 * (1 + number * 0.25)), tone, 0.22)


def sea_ground(stage: Stage) -> Spot:
    for number in range(2):
        _wave(stage, 0.78 + number * 0.06, 0.05, 0.25 + number * 0.2)
    return stage.spot(0.83, 0.44)


def sea_front(stage: Stage) -> None:
    _wave(stage, 0.88, 0.06, 0.7)
    _wave(stage, 0.965, 0.05, 1.0)


def _wave(stage: Stage, base: float, swing: float, near: float) -> None:
    colours, canvas = stage.colours, stage.canvas
    tops = stage.rolling(base, swing, 1.1)
    body = mix_colours(
        mix_colours(colours.shallow, colours.deep, 0.35 + near * 0.5), colours.ink, near * 0.25
    )
    foam = mix_colours(colours.paper, colours.shallow, 0.3)
    canvas.ridge(tops - stage.short * 0.004, foam, 0.75)
    canvas.ridge(tops, (body, mix_colours(body, colours.ink, 0.35)))
    for _ in range(9):
        x = stage.dice.uniform(0, stage.width)
        y = float(tops[min(stage.width - 1, int(x))]) + stage.short * stage.dice.uniform(0.02, 0.07)
        wide = stage.short * stage.dice.uniform(0.03, 0.09)
        bow = [
            (x - wide, y),
            (x - wide * 0.4, y - wide * 0.16),
            (x + wide * 0.3, y),
            (x + wide, y - wide * 0.1),
        ]
        canvas.curve(bow, max(1.0, stage.short * 0.0028), foam, 0.35)


def under_far(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    bright = mix_colours(colours.shallow, colours.paper, 0.25)
    canvas.sky(
        [(0, bright), (0.35, mix_colours(colours.shallow, colours.deep, 0.35)), (1, colours.deep)]
    )
    for _ in range(6):
        x = stage.dice.uniform(-0.1, 1.0) * stage.width
        wide = stage.short * stage.dice.uniform(0.05, 0.16)
        lean = stage.short * 0.45
        ray = [
            (x, -2),
            (x + wide, -2),
            (x + wide * 1.8 - lean, stage.height * 0.85),
            (x - lean, stage.height * 0.85),
        ]
        canvas.beam(x, -stage.height * 0.05, ray, bright, 0.4)
    for number in range(2):
        rock = mix_colours(colours.deep, colours.far, 0.35 - number * 0.15)
        canvas.ridge(
            stage.jagged(0.92 + number * 0.03, 0.22 - number * 0.06, 1.2),
            (rock, colours.deep),
            0.75,
        )
    for _ in range(12):
        _little_fish(stage)


def _little_fish(stage: Stage) -> None:
    x, y = stage.dice.uniform(0, stage.width), stage.dice.uniform(0.15, 0.75) * stage.height
    size = stage.short * stage.dice.uniform(0.008, 0.018)
    tone = mix_colours(stage.colours.deep, stage.colours.shallow, 0.35)
    stage.canvas.ellipse(x, y, size, size * 0.45, tone)
    stage.canvas.polygon(
        [
            (x - size * 0.7, y),
            (x - size * 1.6, y - size * 0.5),
            (x - size * 1.6, y + size * 0.5),
        ],
        tone,
    )


def under_ground(stage: Stage) -> Spot:
    sand = mix_colours(stage.colours.deep, stage.colours.second, 0.22)
    stage.canvas.ridge(
        stage.rolling(0.9, 0.04, 0.8), (sand, mix_colours(sand, stage.colours.ink, 0.4))
    )
    return stage.spot(0.74, 0.46)


def under_front(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    for _ in range(9):
        x = stage.dice.choice((stage.dice.uniform(0, 0.25), stage.dice.uniform(0.75, 1)))
        _kelp(stage, x * stage.width, stage.short * stage.dice.uniform(0.2, 0.45))
    for _ in range(7):
        x = stage.dice.uniform(0, 1) * stage.width
        tone = stage.dice.choice(
            (colours.accent, colours.second, mix_colours(colours.accent, colours.deep, 0.4))
        )
        _coral(stage, x, stage.height, stage.short * stage.dice.uniform(0.06, 0.12), tone)
    canvas.ridge(stage.rolling(0.985, 0.03, 0.9), mix_colours(colours.deep, colours.ink, 0.6))


def _kelp(stage: Stage, x: float, size: float) -> None:
    tone = mix_colours(stage.colours.near, stage.colours.deep, 0.3)
    bend = stage.dice.uniform(0.05, 0.12) * size
    y = stage.height
    points = [(x + bend * math.sin(n * 1.3), y - size * n / 6) for n in range(7)]
    stage.canvas.curve(points, size * 0.05, tone)
    for n in range(1, 6):
        side = 1 if n % 2 else -1
        a, b = points[n]
        stage.canvas.ellipse(a + side * size * 0.06, b, size * 0.07, size * 0.025, tone)


def _coral(stage: Stage, x: float, y: float, size: float, tone: tuple[int, int, int]) -> None:
    for branch in range(5):
        turn = -math.pi / 2 + (branch - 2) * 0.4
        end = (
            x + math.cos(turn) * size,
            y + math.sin(turn) * size * stage.dice.uniform(0.7, 1.1),
        )
        stage.canvas.line([(x, y), end], size * 0.14, tone)
        stage.canvas.disc(end[0], end[1], size * 0.11, tone)
