"""Land: mountains, hills, forest, desert, meadow, ice."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.motifs.growth import fir, firs_on, mist, mountain_range, round_tree
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def mountains_far(stage: Stage) -> None:
    edge = stage.horizon
    mountain_range(stage, edge + 0.02, 0.26, 0.9, 0.12, snow=0.5)
    mountain_range(stage, edge + 0.06, 0.33, 1.0, 0.42, snow=0.75)
    mist(stage, edge + 0.02, 0.5)


def mountains_ground(stage: Stage) -> Spot:
    firs_on(stage, 0.05, 0.62, 0.07)
    firs_on(stage, 0.15, 0.8, 0.1)
    stage.canvas.ridge(stage.rolling(0.84, 0.06, 0.7), (stage.depth(0.86), stage.depth(1.0)))
    return stage.spot(0.86, 0.4)


def near_firs(stage: Stage) -> None:
    """Dark firs that frame the picture on both sides."""
    tone = mix_colours(stage.colours.near, stage.colours.ink, 0.75)
    stage.canvas.ridge(stage.rolling(0.97, 0.04, 0.9), tone)
    for share in (0.02, 0.09, 0.94, 1.0):
        size = stage.short * stage.dice.uniform(0.34, 0.52)
        fir(stage, share * stage.width, stage.height * 1.0, size, tone)


def hills_far(stage: Stage) -> None:
    mountain_range(stage, stage.horizon + 0.03, 0.14, 0.7, 0.1, snow=0.0)
    for number in range(3):
        base = stage.horizon + 0.03 + number * 0.05
        near = stage.depth(0.25 + number * 0.16)
        stage.canvas.ridge(stage.rolling(base, 0.07, 0.6 + number * 0.2), (near, stage.depth(0.5)))
    mist(stage, stage.horizon + 0.05, 0.3)


def meadow_ground(stage: Stage) -> Spot:
    canvas = stage.canvas
    for number in range(2):
        tops = stage.rolling(0.76 + number * 0.07, 0.07, 0.5)
        shade = stage.depth(0.66 + number * 0.2)
        canvas.ridge(tops, (mix_colours(shade, stage.colours.sun, 0.12), shade))
        for _ in range(5 - number * 2):
            x = stage.dice.uniform(0.03, 0.97) * stage.width
            y = float(tops[min(stage.width - 1, int(x))])
            round_tree(stage, x, y + 3, stage.short * stage.dice.uniform(0.05, 0.1))
    return stage.spot(0.86, 0.42)


def meadow_front(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    tone = mix_colours(colours.near, colours.ink, 0.25)
    canvas.ridge(stage.rolling(0.95, 0.04, 0.8), (tone, mix_colours(tone, colours.ink, 0.4)))
    for _ in range(90):
        x = stage.dice.uniform(0, stage.width)
        y = stage.height * stage.dice.uniform(0.93, 1.02)
        tall = stage.short * stage.dice.uniform(0.03, 0.1)
        lean = stage.dice.uniform(-0.35, 0.35) * tall
        tip = (x + lean, y - tall)
        shade = mix_colours(tone, colours.second, stage.dice.uniform(0, 0.3))
        canvas.polygon([(x - tall * 0.05, y), tip, (x + tall * 0.05, y)], shade)
        if stage.dice.random() < 0.32:
            bloom = stage.dice.choice((colours.accent, colours.second, colours.paper))
            _bloom(stage, tip[0], tip[1], tall * 0.13, bloom)


def _bloom(stage: Stage, x: float, y: float, size: float, colour: Colour) -> None:
    for petal in range(5):
        turn = petal * 1.2566 + 0.3
        stage.canvas.disc(x + math.cos(turn) * size, y + math.sin(turn) * size, size * 0.8, colour)
    stage.canvas.disc(x, y, size * 0.6, stage.colours.sun)


def desert_far(stage: Stage) -> None:
    sand = mix_colours(stage.colours.second, stage.colours.horizon, 0.5)
    for number in range(3):
        base = stage.horizon + 0.02 + number * 0.05
        _dune(stage, base, 0.08, mix_colours(stage.depth(0.2), sand, 0.4 + number * 0.2))


def desert_ground(stage: Stage) -> Spot:
    sand = mix_colours(stage.colours.second, stage.colours.near, 0.18 if not stage.dark else 0.7)
    _dune(stage, 0.76, 0.12, sand)
    _dune(stage, 0.86, 0.08, mix_colours(sand, stage.colours.accent, 0.16))
    return stage.spot(0.87, 0.38)


def desert_front(stage: Stage) -> None:
    sand = mix_colours(stage.colours.second, stage.colours.near, 0.5 if not stage.dark else 0.85)
    _dune(stage, 0.96, 0.07, mix_colours(sand, stage.colours.accent, 0.2))


def _dune(stage: Stage, base: float, swing: float, sand: Colour) -> None:
    tops = stage.rolling(base, swing, 0.45)
    lit = mix_colours(sand, stage.colours.sun, 0.25)
    stage.canvas.ridge(tops, (lit, sand))
    shaded = mix_colours(sand, stage.colours.near, 0.42)
    drop = stage.rolling(base + swing * 0.9, swing * 1.3, 0.8)
    lee = tops.clip(drop)
    stage.canvas.ridge(lee.astype(tops.dtype), (shaded, mix_colours(sand, shaded, 0.4)), 0.5)
