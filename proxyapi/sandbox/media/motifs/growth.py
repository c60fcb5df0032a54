"""What land is covered with: ranges with snow, hillsides with firs, trees, mist."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Stage


def fir(stage: Stage, x: float, y: float, size: float, tone: Colour) -> None:
    points = [(x, y - size)]
    for tier in range(1, 5):
        wide, low = size * 0.07 * tier, y - size * (1 - tier * 0.23)
        points += [(x + wide, low), (x + wide * 0.55, low - size * 0.02)]
    left = [(2 * x - a, b) for a, b in reversed(points[1:])]
    trunk = [(x + size * 0.02, y), (x - size * 0.02, y)]
    stage.canvas.polygon([*points, *trunk, *left], tone)


def round_tree(stage: Stage, x: float, y: float, size: float) -> None:
    leaf = mix_colours(stage.colours.near, stage.colours.far, 0.25)
    stage.canvas.box(
        x - size * 0.05, y - size * 0.5, size * 0.1, size * 0.5, stage.colours.ink, 0.9
    )
    stage.canvas.disc(x, y - size * 0.75, size * 0.42, leaf)
    lit = mix_colours(leaf, stage.colours.sun, 0.22)
    stage.canvas.disc(x + size * 0.08, y - size * 0.86, size * 0.26, lit, 0.8)


def mist(stage: Stage, place: float, strength: float) -> None:
    """A band of haze across the picture at a share of the height."""
    y, reach = place * stage.height, stage.short * 0.12
    tone = mix_colours(stage.colours.horizon, stage.colours.sky, 0.2)
    for number in range(6):
        x = (number + stage.dice.random()) / 6 * stage.width
        stage.canvas.glow(x, y, reach * stage.dice.uniform(1.5, 3), tone, strength * 0.3)


def mountain_range(
    stage: Stage, base: float, swing: float, peaks: float, near: float, snow: float
) -> None:
    tops = stage.jagged(base, swing, peaks)
    rock = stage.depth(near)
    foot = mix_colours(rock, stage.colours.horizon, 0.5)
    stage.canvas.ridge(tops, (rock, foot))
    if snow:
        _snow_on(stage, tops, base, swing, snow)


def _snow_on(
    stage: Stage, tops: NDArray[np.float32], base: float, swing: float, snow: float
) -> None:
    line = tops
    limit = base * stage.height - swing * stage.short * (1 - 0.5 * snow)
    ragged = limit + stage.jagged(0, 0.12, 6) - stage.jagged(0, 0.05, 14)
    tone = mix_colours(stage.colours.paper, stage.colours.sky, 0.3 if not stage.dark else 0.55)
    slope = np.convolve(np.gradient(line), np.ones(9) / 9, mode="same")
    sunny = slope > 0 if stage.sun_at > 0.5 else slope < 0
    depth = np.maximum(0, ragged - line) * np.where(sunny, 1.0, 0.55)
    cap = np.asarray(depth, np.float32)
    _cap(stage, line, cap, tone)


def _cap(stage: Stage, tops: NDArray[np.float32], deep: NDArray[np.float32], tone: Colour) -> None:
    rows = np.arange(stage.height, dtype=np.float32)[:, None]
    cover = np.clip(rows - tops + 0.5, 0, 1) * np.clip(tops + deep - rows + 0.5, 0, 1)
    mask = Image.fromarray((cover * 235).astype(np.uint8))
    stage.canvas.image.paste(tone, (0, 0), mask)


def firs_on(stage: Stage, below: float, near: float, size: float) -> None:
    """A hillside with a comb of firs; `below` is a share of the height under the horizon."""
    tops = stage.rolling(stage.horizon + below, 0.07, 0.6)
    tone = stage.depth(near)
    stage.canvas.ridge(tops, (tone, mix_colours(tone, stage.colours.horizon, 0.18)))
    step = size * stage.short * 0.22
    x = -step
    while x < stage.width + step:
        y = float(tops[min(stage.width - 1, max(0, int(x)))])
        if stage.dice.random() < 0.86:
            tall = size * stage.short * stage.dice.uniform(0.55, 1.1)
            fir(stage, x, y + tall * 0.12, tall, tone)
        x += step * stage.dice.uniform(0.6, 1.3)
