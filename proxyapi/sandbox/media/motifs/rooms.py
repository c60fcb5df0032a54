"""Indoors: a table by the window, and what hangs on the wall."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def room_far(stage: Stage) -> None:
    """A wall with a window through which the hour is seen."""
    colours, canvas = stage.colours, stage.canvas
    wall = mix_colours(colours.far, colours.paper, 0.2 if stage.dark else 0.5)
    if stage.dark:
        wall = mix_colours(wall, colours.ink, 0.55)
    canvas.sky([(0, mix_colours(wall, colours.ink, 0.25)), (0.6, wall), (1, wall)])
    _window(stage)
    other_side = (1 - stage.sun_at) * stage.width
    stage.dice.choice((_shelf, _frames, _lamp))(stage, other_side)


def _window(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    wide = stage.short * stage.dice.uniform(0.4, 0.5)
    high, sill = stage.short * 0.5, wide * 0.05
    x, y = stage.sun_at * stage.width - wide / 2, stage.height * 0.1
    frame = mix_colours(colours.paper, colours.far, 0.2)
    canvas.box(x - sill, y - sill, wide * 1.1, high + wide * 0.1, frame, 1, wide * 0.02)
    canvas.box(x, y, wide, high, (colours.zenith, colours.horizon))
    sun = stage.dice.uniform(0.2, 0.8)
    canvas.disc(x + wide * sun, y + high * 0.3, wide * 0.1, colours.sun)
    canvas.glow(x + wide * sun, y + high * 0.3, wide * 0.5, colours.sun, 0.4)
    peaks = ((0, 1), (0, 0.78), (0.35, 0.62), (0.7, 0.82), (1, 0.7), (1, 1))
    canvas.polygon([(x + wide * a, y + high * b) for a, b in peaks], colours.far)
    canvas.box(x + wide * 0.485, y, wide * 0.03, high, frame)
    canvas.box(x, y + high * 0.48, wide, wide * 0.03, frame)
    if not stage.dark:
        fall, low = stage.short * 0.5, y + high * 2
        shaft = [(x, y), (x + wide, y), (x + wide + fall, low), (x + fall, low)]
        canvas.beam(x + wide / 2, y - high * 0.2, shaft, colours.sun, 0.28)


def _frames(stage: Stage, middle: float) -> None:
    """Three pictures on the wall, each another landscape."""
    colours, canvas = stage.colours, stage.canvas
    for offset, size, y in ((-0.2, 0.2, 0.14), (0.06, 0.15, 0.12), (0.07, 0.17, 0.33)):
        x, top = middle + offset * stage.short, (y + _lower(stage)) * stage.height
        wide = size * stage.short
        canvas.box(x, top, wide, wide * 1.1, mix_colours(colours.second, colours.ink, 0.5))
        inner, high = wide * 0.86, wide * 0.96
        left, up = x + wide * 0.07, top + wide * 0.07
        tone = stage.dice.choice((colours.accent, colours.shallow, colours.second))
        canvas.box(left, up, inner, high, (mix_colours(tone, colours.paper, 0.6), tone))
        canvas.disc(left + inner * 0.62, up + high * 0.36, inner * 0.16, colours.paper)
        hill = ((0, 1), (0, 0.75), (0.4, 0.52), (1, 0.8), (1, 1))
        canvas.polygon([(left + inner * a, up + high * b) for a, b in hill], colours.near)


def _lamp(stage: Stage, middle: float) -> None:
    """A lamp that hangs from above, and a plant below it."""
    colours, canvas, unit = stage.colours, stage.canvas, stage.short
    y, foot = stage.height * 0.2, stage.height * 0.7
    canvas.line([(middle, -4), (middle, y)], unit * 0.006, colours.ink)
    shade = [(middle - unit * 0.04, y), (middle + unit * 0.04, y)]
    shade += [(middle + unit * 0.11, y + unit * 0.09), (middle - unit * 0.11, y + unit * 0.09)]
    canvas.glow(middle, y + unit * 0.1, unit * 0.5, stage.light(), 0.5)
    canvas.disc(middle, y + unit * 0.09, unit * 0.035, stage.light())
    canvas.polygon(shade, (mix_colours(colours.accent, colours.paper, 0.15), colours.accent))
    leaf = mix_colours(colours.near, colours.shallow, 0.25)
    for side, reach, high in ((-1, 0.1, 0.2), (1, 0.12, 0.18), (-1, 0.05, 0.28), (1, 0.05, 0.27)):
        tip = (middle + side * reach * unit, foot - high * unit)
        bend = (middle + side * reach * unit * 0.9, foot - high * unit * 0.5)
        canvas.blob(
            [(middle, foot - unit * 0.06), bend, tip, (middle, foot - high * unit * 0.6)], leaf
        )
    pot = [(middle - unit * 0.05, foot - unit * 0.09), (middle + unit * 0.05, foot - unit * 0.09)]
    pot += [(middle + unit * 0.038, foot), (middle - unit * 0.038, foot)]
    canvas.polygon(pot, (colours.second, mix_colours(colours.second, colours.ink, 0.3)))


def _lower(stage: Stage) -> float:
    """In an upright room the wall beside the window is narrow; things hang below it."""
    return 0.16 if stage.height > stage.width else 0.0


def _shelf(stage: Stage, middle: float) -> None:
    """A board of books on the far wall."""
    colours, canvas = stage.colours, stage.canvas
    wide, y = stage.short * 0.5, stage.height * (0.34 + _lower(stage))
    x = middle - wide / 2
    canvas.box(x, y, wide, stage.short * 0.014, mix_colours(colours.near, colours.second, 0.3))
    a = x + wide * 0.05
    while a < x + wide * 0.86:
        thick = stage.short * stage.dice.uniform(0.014, 0.03)
        tall = stage.short * stage.dice.uniform(0.08, 0.13)
        tone = mix_colours(
            stage.dice.choice((colours.accent, colours.second, colours.shallow, colours.near)),
            colours.far,
            0.3,
        )
        canvas.box(a, y - tall, thick, tall, tone, 1, thick * 0.15)
        canvas.box(a, y - tall * 0.8, thick, tall * 0.06, colours.paper, 0.6)
        a += thick * 1.08


def room_ground(stage: Stage) -> Spot:
    colours = stage.colours
    wood = mix_colours(colours.second, colours.ink, 0.35 if not stage.dark else 0.62)
    stage.canvas.ridge(
        stage.rolling(0.7, 0.0, 1),
        (mix_colours(wood, colours.paper, 0.22), mix_colours(wood, colours.ink, 0.3)),
    )
    for number in range(7):
        y = stage.height * (0.71 + number * number * 0.008)
        grain = [
            (n / 6 * stage.width, y + stage.dice.uniform(-1, 1) * stage.short * 0.004)
            for n in range(7)
        ]
        stage.canvas.curve(grain, 1.5, mix_colours(wood, colours.ink, 0.4), 0.35)
    return Spot(stage.spot(0.84, 0.42).x, stage.height * 0.84, stage.short * 0.42)


def room_front(stage: Stage) -> None:
    """The soft light of a lamp that stands outside the picture."""
    x = stage.width * (0.95 if stage.sun_at < 0.5 else 0.05)
    stage.canvas.flood(x, stage.height * 0.55, stage.short * 0.9, stage.light(), 0.3)
