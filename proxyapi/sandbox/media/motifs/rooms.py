"""Indoors and nowhere: a table by the window, and a composition of plain shapes."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.palettes import mixed
from proxyapi.sandbox.media.stage import Spot, Stage


def room_far(stage: Stage) -> None:
    """A wall with a window through which the hour is seen."""
    colours, canvas = stage.colours, stage.canvas
    wall = mixed(colours.far, colours.paper, 0.2 if stage.dark else 0.5)
    if stage.dark:
        wall = mixed(wall, colours.ink, 0.55)
    canvas.sky([(0, mixed(wall, colours.ink, 0.25)), (0.6, wall), (1, wall)])
    wide, high = stage.short * 0.46, stage.short * 0.5
    x, y = stage.sun_at * stage.width - wide / 2, stage.height * 0.1
    frame = mixed(colours.paper, colours.far, 0.2)
    canvas.box(
        x - wide * 0.05, y - wide * 0.05, wide * 1.1, high + wide * 0.1, frame, 1, wide * 0.02
    )
    canvas.box(x, y, wide, high, (colours.zenith, colours.horizon))
    canvas.disc(x + wide * 0.66, y + high * 0.34, wide * 0.1, colours.sun)
    canvas.glow(x + wide * 0.66, y + high * 0.34, wide * 0.5, colours.sun, 0.4)
    hill = [(x, y + high), (x, y + high * 0.78), (x + wide * 0.35, y + high * 0.62)]
    canvas.polygon(
        [
            *hill,
            (x + wide * 0.7, y + high * 0.82),
            (x + wide, y + high * 0.7),
            (x + wide, y + high),
        ],
        colours.far,
    )
    canvas.box(x + wide * 0.485, y, wide * 0.03, high, frame)
    canvas.box(x, y + high * 0.48, wide, wide * 0.03, frame)
    if not stage.dark:
        fall = stage.short * 0.5
        shaft = [
            (x, y),
            (x + wide, y),
            (x + wide + fall, y + high * 2),
            (x + fall, y + high * 2),
        ]
        canvas.beam(x + wide / 2, y - high * 0.2, shaft, colours.sun, 0.28)
    _shelf(stage, 1 - stage.sun_at)


def _shelf(stage: Stage, place: float) -> None:
    """A board of books on the far wall."""
    colours, canvas = stage.colours, stage.canvas
    wide, y = stage.short * 0.5, stage.height * 0.34
    x = place * stage.width - wide / 2
    canvas.box(x, y, wide, stage.short * 0.014, mixed(colours.near, colours.second, 0.3))
    a = x + wide * 0.05
    while a < x + wide * 0.86:
        thick = stage.short * stage.dice.uniform(0.014, 0.03)
        tall = stage.short * stage.dice.uniform(0.08, 0.13)
        tone = mixed(
            stage.dice.choice((colours.accent, colours.second, colours.shallow, colours.near)),
            colours.far,
            0.3,
        )
        canvas.box(a, y - tall, thick, tall, tone, 1, thick * 0.15)
        canvas.box(a, y - tall * 0.8, thick, tall * 0.06, colours.paper, 0.6)
        a += thick * 1.08


def room_ground(stage: Stage) -> Spot:
    colours = stage.colours
    wood = mixed(colours.second, colours.near, 0.45 if not stage.dark else 0.75)
    stage.canvas.ridge(
        stage.rolling(0.7, 0.0, 1),
        (mixed(wood, colours.paper, 0.22), mixed(wood, colours.ink, 0.3)),
    )
    for number in range(7):
        y = stage.height * (0.71 + number * number * 0.008)
        grain = [
            (n / 6 * stage.width, y + stage.dice.uniform(-1, 1) * stage.short * 0.004)
            for n in range(7)
        ]
        stage.canvas.curve(grain, 1.5, mixed(wood, colours.ink, 0.4), 0.35)
    return Spot(stage.spot(0.84, 0.42).x, stage.height * 0.84, stage.short * 0.42)


def room_front(stage: Stage) -> None:
    """The soft light of a lamp that stands outside the picture."""
    x = stage.width * (0.95 if stage.sun_at < 0.5 else 0.05)
    stage.canvas.flood(x, stage.height * 0.55, stage.short * 0.9, stage.light(), 0.3)


def shapes_far(stage: Stage) -> None:
    """Overlapping discs, arcs and bands: a poster for thoughts that have no place."""
    colours, canvas = stage.colours, stage.canvas
    ground = mixed(colours.horizon, colours.paper, 0.25) if not stage.dark else colours.zenith
    canvas.sky([(0, mixed(ground, colours.sky, 0.35)), (1, ground)])
    x, y = stage.sun_at * stage.width, stage.height * 0.4
    radius = stage.short * 0.36
    canvas.disc(x, y, radius, (colours.second, mixed(colours.second, colours.accent, 0.7)))
    canvas.disc(x - radius * 0.9, y + radius * 0.5, radius * 0.6, colours.shallow, 0.85)
    for ring in range(4):
        _arc(
            stage,
            stage.width - x,
            stage.height * 0.95,
            stage.short * (0.26 + ring * 0.09),
            ring,
        )
    for _ in range(14):
        a, b = stage.dice.uniform(0, 1) * stage.width, stage.dice.uniform(0, 0.6) * stage.height
        tone = stage.dice.choice((colours.accent, colours.paper, colours.shallow, colours.ink))
        canvas.disc(a, b, stage.short * stage.dice.uniform(0.003, 0.013), tone)


def _arc(stage: Stage, x: float, y: float, radius: float, number: int) -> None:
    tones = (
        stage.colours.accent,
        stage.colours.paper,
        stage.colours.deep,
        stage.colours.shallow,
    )
    path = [
        (x + math.cos(math.pi * n / 24) * radius, y - math.sin(math.pi * n / 24) * radius)
        for n in range(25)
    ]
    stage.canvas.line(path, stage.short * 0.055, tones[number % 4])


def shapes_ground(stage: Stage) -> Spot:
    tone = mixed(stage.colours.deep, stage.colours.near, 0.4)
    stage.canvas.ridge(
        stage.rolling(0.82, 0.08, 0.5), (mixed(tone, stage.colours.accent, 0.1), tone)
    )
    return stage.spot(0.85, 0.42)


def shapes_front(stage: Stage) -> None:
    stage.canvas.ridge(
        stage.rolling(0.95, 0.07, 0.6), mixed(stage.colours.near, stage.colours.ink, 0.55)
    )
