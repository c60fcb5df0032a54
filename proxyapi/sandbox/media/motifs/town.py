"""Town: a skyline with lit windows, roofs in front, a street lamp."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage


def city_far(stage: Stage) -> None:
    for number in range(2):
        near = 0.15 + number * 0.25
        base = mix_colours(stage.depth(near), stage.colours.horizon, 0.35 - number * 0.2)
        _row(stage, 0.24 - number * 0.02, base, lit=0.12 + number * 0.1)
    glow = mix_colours(stage.colours.horizon, stage.colours.second, 0.4)
    stage.canvas.glow(stage.width / 2, stage.horizon * stage.height, stage.short * 0.7, glow, 0.25)


def city_ground(stage: Stage) -> Spot:
    _row(stage, 0.1, stage.depth(0.62), lit=0.3, deeper=0.14)
    quay = stage.depth(0.9)
    stage.canvas.ridge(
        stage.rolling(0.85, 0.0, 1), (mix_colours(quay, stage.colours.second, 0.18), quay)
    )
    return stage.spot(0.86, 0.36)


def city_front(stage: Stage) -> None:
    """Near roofs with chimneys, dark against the town."""
    tone = mix_colours(stage.colours.near, stage.colours.ink, 0.7)
    x = -0.05 * stage.short
    while x < stage.width:
        wide = stage.short * stage.dice.uniform(0.2, 0.34)
        top = stage.height * stage.dice.uniform(0.92, 0.97)
        roof = [(x, stage.height), (x, top), (x + wide / 2, top - wide * 0.18), (x + wide, top)]
        stage.canvas.polygon([*roof, (x + wide, stage.height)], tone)
        stage.canvas.box(x + wide * 0.68, top - wide * 0.22, wide * 0.08, wide * 0.24, tone)
        x += wide


def _row(stage: Stage, tall: float, tone: Colour, *, lit: float, deeper: float = 0.04) -> None:
    base = (stage.horizon + deeper) * stage.height
    x = -stage.short * 0.03
    while x < stage.width:
        wide = stage.short * stage.dice.uniform(0.05, 0.12)
        high = stage.short * tall * stage.dice.uniform(0.35, 1.25) + deeper * stage.height
        _tower(stage, x, base, wide, high, tone, lit)
        x += wide * stage.dice.uniform(0.85, 1.15)
    stage.canvas.ridge(stage.rolling(stage.horizon + deeper, 0, 1), (tone, stage.depth(0.8)))


def _tower(
    stage: Stage, x: float, base: float, wide: float, high: float, tone: Colour, lit: float
) -> None:
    canvas, top = stage.canvas, base - high
    canvas.box(x, top, wide, high, (tone, mix_colours(tone, stage.colours.horizon, 0.22)))
    crown = stage.dice.random()
    if crown < 0.2:
        canvas.polygon([(x, top), (x + wide / 2, top - wide * 0.5), (x + wide, top)], tone)
    elif crown < 0.4:
        canvas.box(x + wide * 0.2, top - wide * 0.18, wide * 0.6, wide * 0.2, tone)
        canvas.box(x + wide * 0.48, top - wide * 0.7, wide * 0.05, wide * 0.55, tone)
    _windows(stage, (x, top, wide, high), lit)


def _windows(stage: Stage, wall: tuple[float, float, float, float], lit: float) -> None:
    x, top, wide, high = wall
    share = lit * (1.9 if stage.dark else 1.3 if stage.hour == "dusk" else 0.8)
    step = stage.short * 0.0165
    columns = max(2, int(wide / step))
    pace = wide / columns
    warm = (
        stage.light(),
        mix_colours(stage.light(), stage.colours.accent, 0.35),
        stage.colours.paper,
    )
    for row in range(int(high / step) - 1):
        for column in range(columns):
            if stage.dice.random() < share:
                left, up = x + (column + 0.28) * pace, top + (row + 0.7) * step
                tone = stage.dice.choice(warm)
                _pane(stage, left, up, pace * 0.45, step * 0.5, tone)


def _pane(stage: Stage, x: float, y: float, wide: float, high: float, tone: Colour) -> None:
    """Windows are too many for smooth edges; they are whole pixels."""
    corners = (
        round(x),
        round(y),
        max(round(x) + 2, round(x + wide)),
        max(round(y) + 2, round(y + high)),
    )
    stage.canvas.patch(corners, tone)
