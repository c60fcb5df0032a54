"""Land: mountains, hills, forest, desert, meadow, ice."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.palettes import Colour, mixed
from proxyapi.sandbox.media.stage import Spot, Stage


def mountains_far(stage: Stage) -> None:
    edge = stage.horizon
    _range(stage, edge + 0.02, 0.26, 0.9, 0.12, snow=0.5)
    _range(stage, edge + 0.06, 0.33, 1.0, 0.42, snow=0.75)
    mist(stage, edge + 0.02, 0.5)


def mountains_ground(stage: Stage) -> Spot:
    _firs_on(stage, 0.05, 0.62, 0.07)
    _firs_on(stage, 0.15, 0.8, 0.1)
    stage.canvas.ridge(stage.rolling(0.84, 0.06, 0.7), (stage.depth(0.86), stage.depth(1.0)))
    return stage.spot(0.86, 0.4)


def near_firs(stage: Stage) -> None:
    """Dark firs that frame the picture on both sides."""
    tone = mixed(stage.colours.near, stage.colours.ink, 0.75)
    stage.canvas.ridge(stage.rolling(0.97, 0.04, 0.9), tone)
    for share in (0.02, 0.09, 0.94, 1.0):
        size = stage.short * stage.dice.uniform(0.34, 0.52)
        fir(stage, share * stage.width, stage.height * 1.0, size, tone)


def hills_far(stage: Stage) -> None:
    _range(stage, stage.horizon + 0.03, 0.14, 0.7, 0.1, snow=0.0)
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
        canvas.ridge(tops, (mixed(shade, stage.colours.sun, 0.12), shade))
        for _ in range(5 - number * 2):
            x = stage.dice.uniform(0.03, 0.97) * stage.width
            y = float(tops[min(stage.width - 1, int(x))])
            round_tree(stage, x, y + 3, stage.short * stage.dice.uniform(0.05, 0.1))
    return stage.spot(0.86, 0.42)


def meadow_front(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    tone = mixed(colours.near, colours.ink, 0.25)
    canvas.ridge(stage.rolling(0.95, 0.04, 0.8), (tone, mixed(tone, colours.ink, 0.4)))
    for _ in range(90):
        x = stage.dice.uniform(0, stage.width)
        y = stage.height * stage.dice.uniform(0.93, 1.02)
        tall = stage.short * stage.dice.uniform(0.03, 0.1)
        lean = stage.dice.uniform(-0.35, 0.35) * tall
        tip = (x + lean, y - tall)
        shade = mixed(tone, colours.second, stage.dice.uniform(0, 0.3))
        canvas.polygon([(x - tall * 0.05, y), tip, (x + tall * 0.05, y)], shade)
        if stage.dice.random() < 0.32:
            bloom = stage.dice.choice((colours.accent, colours.second, colours.paper))
            _bloom(stage, tip[0], tip[1], tall * 0.13, bloom)


def _bloom(stage: Stage, x: float, y: float, size: float, colour: Colour) -> None:
    for petal in range(5):
        turn = petal * 1.2566 + 0.3
        stage.canvas.disc(x + math.cos(turn) * size, y + math.sin(turn) * size, size * 0.8, colour)
    stage.canvas.disc(x, y, size * 0.6, stage.colours.sun)


def forest_far(stage: Stage) -> None:
    for number in range(4):
        _firs_on(stage, -0.1 + number * 0.06, 0.12 + number * 0.14, 0.16 + number * 0.025)
        mist(stage, stage.horizon + 0.02 + number * 0.06, 0.4)


def forest_ground(stage: Stage) -> Spot:
    _firs_on(stage, 0.16, 0.74, 0.2)
    ground = stage.depth(0.82)
    stage.canvas.ridge(
        stage.rolling(0.83, 0.04, 0.7), (mixed(ground, stage.colours.sun, 0.14), stage.depth(1))
    )
    return stage.spot(0.87, 0.4)


def forest_front(stage: Stage) -> None:
    """Trunks at both sides and ferns below."""
    tone = mixed(stage.colours.near, stage.colours.ink, 0.8)
    for share in (0.03, 0.12, 0.93):
        x, wide = share * stage.width, stage.short * stage.dice.uniform(0.035, 0.06)
        trunk = [(x - wide, stage.height), (x - wide * 0.6, 0), (x + wide * 0.5, 0)]
        stage.canvas.polygon([*trunk, (x + wide, stage.height)], tone)
    stage.canvas.ridge(stage.rolling(0.97, 0.03, 1.2), tone)
    for _ in range(18):
        x = stage.dice.uniform(0, stage.width)
        fern(stage, x, stage.height, stage.short * stage.dice.uniform(0.07, 0.14), tone)


def desert_far(stage: Stage) -> None:
    sand = mixed(stage.colours.second, stage.colours.horizon, 0.5)
    for number in range(3):
        base = stage.horizon + 0.02 + number * 0.05
        _dune(stage, base, 0.08, mixed(stage.depth(0.2), sand, 0.4 + number * 0.2))


def desert_ground(stage: Stage) -> Spot:
    sand = mixed(stage.colours.second, stage.colours.near, 0.18 if not stage.dark else 0.7)
    _dune(stage, 0.76, 0.12, sand)
    _dune(stage, 0.86, 0.08, mixed(sand, stage.colours.accent, 0.16))
    return stage.spot(0.87, 0.38)


def desert_front(stage: Stage) -> None:
    sand = mixed(stage.colours.second, stage.colours.near, 0.5 if not stage.dark else 0.85)
    _dune(stage, 0.96, 0.07, mixed(sand, stage.colours.accent, 0.2))


def _dune(stage: Stage, base: float, swing: float, sand: Colour) -> None:
    tops = stage.rolling(base, swing, 0.45)
    lit = mixed(sand, stage.colours.sun, 0.25)
    stage.canvas.ridge(tops, (lit, sand))
    shaded = mixed(sand, stage.colours.near, 0.42)
    drop = stage.rolling(base + swing * 0.9, swing * 1.3, 0.8)
    lee = tops.clip(drop)
    stage.canvas.ridge(lee.astype(tops.dtype), (shaded, mixed(sand, shaded, 0.4)), 0.5)


def ice_far(stage: Stage) -> None:
    canvas, colours = stage.canvas, stage.colours
    _range(stage, stage.horizon + 0.01, 0.22, 0.8, 0.2, snow=1.0)
    wall = stage.jagged(stage.horizon + 0.01, 0.09, 3.0)
    canvas.ridge(wall, (colours.paper, mixed(colours.shallow, colours.paper, 0.3)))
    for _ in range(60):
        x = stage.dice.uniform(0, stage.width)
        top = float(wall[int(min(x, stage.width - 1))]) + 4
        crack = mixed(colours.shallow, colours.deep, stage.dice.uniform(0.1, 0.5))
        canvas.line([(x, top), (x, stage.horizon * stage.height)], 1.5, crack, 0.35)
    water = stage.rolling(stage.horizon + 0.015, 0.004, 2)
    canvas.ridge(water, (mixed(colours.shallow, colours.paper, 0.25), colours.deep))


def ice_ground(stage: Stage) -> Spot:
    for _ in range(4):
        x = stage.dice.uniform(0.05, 0.95) * stage.width
        y = stage.dice.uniform(stage.horizon + 0.08, 0.78) * stage.height
        _floe(stage, x, y, stage.short * stage.dice.uniform(0.08, 0.2))
    x, y, size = stage.spot(0.82, 0.36)
    _floe(stage, x, y + size * 0.1, size * 0.9)
    return Spot(x, y, size)


def ice_front(stage: Stage) -> None:
    snow = mixed(stage.colours.paper, stage.colours.shallow, 0.35 if stage.dark else 0.12)
    shade = mixed(snow, stage.colours.deep, 0.35)
    stage.canvas.ridge(stage.rolling(0.95, 0.05, 0.7), (snow, shade))


def _floe(stage: Stage, x: float, y: float, size: float) -> None:
    colours, canvas = stage.colours, stage.canvas
    snow = mixed(colours.paper, colours.shallow, 0.3 if stage.dark else 0.05)
    top = [(x - size, y), (x - size * 0.6, y - size * 0.18), (x + size * 0.5, y - size * 0.2)]
    canvas.polygon(
        [
            *top,
            (x + size, y),
            (x + size * 0.5, y + size * 0.1),
            (x - size * 0.7, y + size * 0.1),
        ],
        snow,
    )
    side = mixed(colours.shallow, colours.deep, 0.3)
    foot = [(x - size * 0.7, y + size * 0.1), (x + size * 0.5, y + size * 0.1), (x + size, y)]
    canvas.polygon(
        [
            (x - size, y),
            *foot,
            (x + size * 0.6, y + size * 0.24),
            (x - size * 0.6, y + size * 0.26),
        ],
        (side, colours.deep),
    )


def fir(stage: Stage, x: float, y: float, size: float, tone: Colour) -> None:
    points = [(x, y - size)]
    for tier in range(1, 5):
        wide, low = size * 0.07 * tier, y - size * (1 - tier * 0.23)
        points += [(x + wide, low), (x + wide * 0.55, low - size * 0.02)]
    left = [(2 * x - a, b) for a, b in reversed(points[1:])]
    trunk = [(x + size * 0.02, y), (x - size * 0.02, y)]
    stage.canvas.polygon([*points, *trunk, *left], tone)


def round_tree(stage: Stage, x: float, y: float, size: float) -> None:
    leaf = mixed(stage.colours.near, stage.colours.far, 0.25)
    stage.canvas.box(
        x - size * 0.05, y - size * 0.5, size * 0.1, size * 0.5, stage.colours.ink, 0.9
    )
    stage.canvas.disc(x, y - size * 0.75, size * 0.42, leaf)
    lit = mixed(leaf, stage.colours.sun, 0.22)
    stage.canvas.disc(x + size * 0.08, y - size * 0.86, size * 0.26, lit, 0.8)


def fern(stage: Stage, x: float, y: float, size: float, tone: Colour) -> None:
    for blade in range(7):
        turn = -math.pi / 2 + (blade - 3) * 0.32
        tip = (x + math.cos(turn) * size, y + math.sin(turn) * size)
        middle = (x + math.cos(turn) * size * 0.5, y + math.sin(turn) * size * 0.62)
        stage.canvas.curve([(x, y), middle, tip], size * 0.06, tone)


def mist(stage: Stage, place: float, strength: float) -> None:
    """A band of haze across the picture at a share of the height."""
    y, reach = place * stage.height, stage.short * 0.12
    tone = mixed(stage.colours.horizon, stage.colours.sky, 0.2)
    for number in range(6):
        x = (number + stage.dice.random()) / 6 * stage.width
        stage.canvas.glow(x, y, reach * stage.dice.uniform(1.5, 3), tone, strength * 0.3)


def _range(stage: Stage, base: float, swing: float, peaks: float, near: float, snow: float) -> None:
    tops = stage.jagged(base, swing, peaks)
    rock = stage.depth(near)
    foot = mixed(rock, stage.colours.horizon, 0.5)
    stage.canvas.ridge(tops, (rock, foot))
    if snow:
        _snow_on(stage, tops, base, swing, snow)


def _snow_on(stage: Stage, tops: object, base: float, swing: float, snow: float) -> None:
    import numpy as np

    line = np.asarray(tops, np.float32)
    limit = base * stage.height - swing * stage.short * (1 - 0.5 * snow)
    ragged = limit + stage.jagged(0, 0.12, 6) - stage.jagged(0, 0.05, 14)
    tone = mixed(stage.colours.paper, stage.colours.sky, 0.3 if not stage.dark else 0.55)
    slope = np.convolve(np.gradient(line), np.ones(9) / 9, mode="same")
    sunny = slope > 0 if stage.sun_at > 0.5 else slope < 0
    depth = np.maximum(0, ragged - line) * np.where(sunny, 1.0, 0.55)
    cap = np.asarray(depth, np.float32)
    _cap(stage, line, cap, tone)


def _cap(stage: Stage, line: object, cap: object, tone: Colour) -> None:
    import numpy as np
    from PIL import Image

    tops, deep = np.asarray(line, np.float32), np.asarray(cap, np.float32)
    rows = np.arange(stage.height, dtype=np.float32)[:, None]
    cover = np.clip(rows - tops + 0.5, 0, 1) * np.clip(tops + deep - rows + 0.5, 0, 1)
    mask = Image.fromarray((cover * 235).astype(np.uint8))
    stage.canvas.image.paste(tone, (0, 0), mask)


def _firs_on(stage: Stage, below: float, near: float, size: float) -> None:
    """A hillside with a comb of firs; `below` is a share of the height under the horizon."""
    tops = stage.rolling(stage.horizon + below, 0.07, 0.6)
    tone = stage.depth(near)
    stage.canvas.ridge(tops, (tone, mixed(tone, stage.colours.horizon, 0.18)))
    step = size * stage.short * 0.22
    x = -step
    while x < stage.width + step:
        y = float(tops[min(stage.width - 1, max(0, int(x)))])
        if stage.dice.random() < 0.86:
            tall = size * stage.short * stage.dice.uniform(0.55, 1.1)
            fir(stage, x, y + tall * 0.12, tall, tone)
        x += step * stage.dice.uniform(0.6, 1.3)
