"""Food and drink."""

from __future__ import annotations

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def _steam(stage: Stage, pen: Brush, places: tuple[float, ...], low: float) -> None:
    tone = mix_colours(stage.colours.paper, stage.colours.horizon, 0.2)
    for place in places:
        pen.curve(
            tone,
            0.03,
            (place, low),
            (place + 0.06, low + 0.12),
            (place - 0.05, low + 0.24),
            (place + 0.03, low + 0.38),
            opacity=0.4,
        )


def cup(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    pen.oval(colours.ink, 0, 0.0, 0.56, 0.06, 0.3)
    pen.oval((colours.paper, mix_colours(colours.paper, colours.far, 0.4)), 0, 0.04, 0.5, 0.07)
    china = (
        mix_colours(colours.accent, colours.paper, 0.15),
        mix_colours(colours.accent, colours.ink, 0.3),
    )
    pen.curve(colours.accent, 0.06, (0.28, 0.42), (0.48, 0.44), (0.48, 0.24), (0.24, 0.18))
    pen.blob(
        china, (-0.33, 0.54), (-0.31, 0.26), (-0.18, 0.06), (0.18, 0.06), (0.31, 0.26), (0.33, 0.54)
    )
    pen.oval(mix_colours(colours.accent, colours.paper, 0.4), 0, 0.54, 0.34, 0.075)
    pen.oval(mix_colours(colours.ink, colours.second, 0.28), 0, 0.535, 0.295, 0.055)
    pen.oval(mix_colours(colours.second, colours.paper, 0.3), -0.05, 0.535, 0.12, 0.02, 0.6)
    pen.box(colours.paper, -0.27, 0.2, -0.22, 0.46, corner=0.025, opacity=0.35)
    _steam(stage, pen, (-0.14, 0.02, 0.16), 0.62)


def bread(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    crust = mix_colours(colours.second, colours.accent, 0.45)
    dark = mix_colours(crust, colours.ink, 0.45)
    pen.oval(colours.ink, 0, 0.01, 0.72, 0.05, 0.35)
    board = mix_colours(colours.second, colours.ink, 0.55)
    pen.box((board, mix_colours(board, colours.ink, 0.3)), -0.78, 0.0, 0.78, 0.07, corner=0.03)
    loaf = (
        (-0.6, 0.08),
        (-0.64, 0.26),
        (-0.46, 0.46),
        (-0.1, 0.56),
        (0.26, 0.54),
        (0.54, 0.4),
        (0.64, 0.22),
        (0.58, 0.08),
    )
    pen.blob((mix_colours(crust, colours.paper, 0.18), dark), *loaf)
    for number in range(4):
        left = -0.42 + number * 0.24
        cut = (
            (left, 0.22),
            (left + 0.02, 0.36),
            (left + 0.1, 0.46),
            (left + 0.15, 0.44),
            (left + 0.07, 0.34),
            (left + 0.05, 0.22),
        )
        pen.blob(mix_colours(colours.paper, colours.second, 0.35), *cut)
    pen.blob(colours.paper, (-0.5, 0.34), (-0.3, 0.48), (0.0, 0.53), (-0.28, 0.44), opacity=0.22)
    _steam(stage, pen, (-0.2, 0.0, 0.22), 0.62)


def bowl(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.oval(colours.ink, 0, 0.0, 0.5, 0.05, 0.3)
    fruit = (
        (-0.3, 0.46, 0.17, colours.accent),
        (0.28, 0.45, 0.17, colours.second),
        (0.0, 0.52, 0.19, mix_colours(colours.accent, colours.second, 0.5)),
        (-0.13, 0.64, 0.13, mix_colours(colours.near, colours.second, 0.4)),
        (0.17, 0.64, 0.13, colours.accent),
    )
    for a, b, r, tone in fruit:
        pen.disc(
            (mix_colours(tone, colours.paper, 0.25), mix_colours(tone, colours.ink, 0.2)), a, b, r
        )
        pen.disc(colours.paper, a - r * 0.35, b + r * 0.4, r * 0.18, 0.6)
        pen.line(colours.ink, 0.016, (a, b + r * 0.9), (a + 0.03, b + r * 1.25))
    glaze = (
        mix_colours(colours.shallow, colours.paper, 0.25),
        mix_colours(colours.deep, colours.ink, 0.1),
    )
    pen.blob(
        glaze,
        (-0.56, 0.42),
        (-0.44, 0.16),
        (-0.2, 0.03),
        (0.2, 0.03),
        (0.44, 0.16),
        (0.56, 0.42),
        (0, 0.37),
    )
    pen.curve(
        colours.paper, 0.025, (-0.5, 0.33), (-0.2, 0.26), (0.2, 0.26), (0.5, 0.33), opacity=0.7
    )
