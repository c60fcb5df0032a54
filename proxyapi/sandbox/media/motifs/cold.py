"""Ice: a glacier that meets the sea, floes, snow."""

from __future__ import annotations

from proxyapi.sandbox.media.motifs.growth import mountain_range
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def ice_far(stage: Stage) -> None:
    canvas, colours = stage.canvas, stage.colours
    mountain_range(stage, stage.horizon + 0.01, 0.22, 0.8, 0.2, snow=1.0)
    wall = stage.jagged(stage.horizon + 0.01, 0.09, 3.0)
    canvas.ridge(wall, (colours.paper, mix_colours(colours.shallow, colours.paper, 0.3)))
    for _ in range(60):
        x = stage.dice.uniform(0, stage.width)
        top = float(wall[int(min(x, stage.width - 1))]) + 4
        crack = mix_colours(colours.shallow, colours.deep, stage.dice.uniform(0.1, 0.5))
        canvas.line([(x, top), (x, stage.horizon * stage.height)], 1.5, crack, 0.35)
    water = stage.rolling(stage.horizon + 0.015, 0.004, 2)
    canvas.ridge(water, (mix_colours(colours.shallow, colours.paper, 0.25), colours.deep))


def ice_ground(stage: Stage) -> Spot:
    for _ in range(4):
        x = stage.dice.uniform(0.05, 0.95) * stage.width
        y = stage.dice.uniform(stage.horizon + 0.08, 0.78) * stage.height
        _floe(stage, x, y, stage.short * stage.dice.uniform(0.08, 0.2))
    x, y, size = stage.spot(0.82, 0.36)
    _floe(stage, x, y + size * 0.1, size * 0.9)
    return Spot(x, y, size)


def ice_front(stage: Stage) -> None:
    snow = mix_colours(stage.colours.paper, stage.colours.shallow, 0.35 if stage.dark else 0.12)
    shade = mix_colours(snow, stage.colours.deep, 0.35)
    stage.canvas.ridge(stage.rolling(0.95, 0.05, 0.7), (snow, shade))


def _floe(stage: Stage, x: float, y: float, size: float) -> None:
    colours, canvas = stage.colours, stage.canvas
    snow = mix_colours(colours.paper, colours.shallow, 0.3 if stage.dark else 0.05)
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
    side = mix_colours(colours.shallow, colours.deep, 0.3)
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
