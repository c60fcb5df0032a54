"""Forest: rows of firs in the mist, trunks and ferns in front."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.motifs.growth import firs_on, mist
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def forest_far(stage: Stage) -> None:
    for number in range(4):
        firs_on(stage, -0.1 + number * 0.06, 0.12 + number * 0.14, 0.16 + number * 0.025)
        mist(stage, stage.horizon + 0.02 + number * 0.06, 0.4)


def forest_ground(stage: Stage) -> Spot:
    firs_on(stage, 0.16, 0.74, 0.2)
    ground = stage.depth(0.82)
    stage.canvas.ridge(
        stage.rolling(0.83, 0.04, 0.7),
        (mix_colours(ground, stage.colours.sun, 0.14), stage.depth(1)),
    )
    return stage.spot(0.87, 0.4)


def forest_front(stage: Stage) -> None:
    """Trunks at both sides and ferns below."""
    tone = mix_colours(stage.colours.near, stage.colours.ink, 0.8)
    for share in (0.03, 0.12, 0.93):
        x, wide = share * stage.width, stage.short * stage.dice.uniform(0.035, 0.06)
        trunk = [(x - wide, stage.height), (x - wide * 0.6, 0), (x + wide * 0.5, 0)]
        stage.canvas.polygon([*trunk, (x + wide, stage.height)], tone)
    stage.canvas.ridge(stage.rolling(0.97, 0.03, 1.2), tone)
    for _ in range(18):
        x = stage.dice.uniform(0, stage.width)
        fern(stage, x, stage.height, stage.short * stage.dice.uniform(0.07, 0.14), tone)


def fern(stage: Stage, x: float, y: float, size: float, tone: Colour) -> None:
    for blade in range(7):
        turn = -math.pi / 2 + (blade - 3) * 0.32
        tip = (x + math.cos(turn) * size, y + math.sin(turn) * size)
        middle = (x + math.cos(turn) * size * 0.5, y + math.sin(turn) * size * 0.62)
        stage.canvas.curve([(x, y), middle, tip], size * 0.06, tone)
