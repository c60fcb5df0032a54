"""A composition of plain shapes, for thoughts that have no place."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def shapes_far(stage: Stage) -> None:
    """Overlapping discs, arcs and bands: a poster for thoughts that have no place."""
    colours, canvas = stage.colours, stage.canvas
    ground = mix_colours(colours.horizon, colours.paper, 0.25) if not stage.dark else colours.zenith
    canvas.sky([(0, mix_colours(ground, colours.sky, 0.35)), (1, ground)])
    x, y = stage.sun_at * stage.width, stage.height * 0.4
    radius = stage.short * 0.36
    canvas.disc(x, y, radius, (colours.second, mix_colours(colours.second, colours.accent, 0.7)))
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
    tone = mix_colours(stage.colours.deep, stage.colours.near, 0.4)
    stage.canvas.ridge(
        stage.rolling(0.82, 0.08, 0.5), (mix_colours(tone, stage.colours.accent, 0.1), tone)
    )
    return stage.spot(0.85, 0.42)


def shapes_front(stage: Stage) -> None:
    stage.canvas.ridge(
        stage.rolling(0.95, 0.07, 0.6), mix_colours(stage.colours.near, stage.colours.ink, 0.55)
    )
