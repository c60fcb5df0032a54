"""Animals of the sea."""

from __future__ import annotations

import math

from proxyapi.sandbox.media.motifs.creatures import eye
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def octopus(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    skin, dark = colours.accent, mix_colours(colours.accent, colours.deep, 0.45)
    for arm in range(8):
        side = (arm - 3.5) / 3.5
        sway = math.sin(arm * 2.1) * 0.07
        path = (
            (side * 0.16, 0.02),
            (side * 0.3, -0.2),
            (side * 0.36 + sway, -0.38),
            (side * 0.5 + sway, -0.52),
            (side * 0.62, -0.46 + abs(sway)),
        )
        for thick, step in ((0.085, 0), (0.06, 1), (0.035, 2)):
            tone = mix_colours(skin, dark, 0.3 + 0.4 * (arm % 2))
            pen.curve(tone, thick, *path[step : step + 3])
    head = (
        (-0.24, -0.02),
        (-0.29, 0.2),
        (-0.22, 0.42),
        (0, 0.52),
        (0.22, 0.42),
        (0.29, 0.2),
        (0.24, -0.02),
        (0, -0.08),
    )
    pen.blob((mix_colours(skin, colours.paper, 0.25), mix_colours(skin, dark, 0.35)), *head)
    for a, b, r in (
        (-0.12, 0.38, 0.03),
        (-0.04, 0.43, 0.02),
        (0.12, 0.36, 0.025),
        (0.17, 0.27, 0.016),
    ):
        pen.disc(mix_colours(skin, colours.paper, 0.4), a, b, r, 0.7)
    for a in (-0.11, 0.11):
        eye(pen, colours.ink, a, 0.1, 0.06)
    pen.curve(colours.ink, 0.014, (-0.05, 0.0), (0, -0.02), (0.05, 0.0))


def whale(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    back = mix_colours(colours.deep, colours.near, 0.35)
    back = mix_colours(back, colours.sky, 0.2)
    pen.blob(
        mix_colours(back, colours.ink, 0.2),
        (-0.72, 0.06),
        (-0.98, 0.34),
        (-1.16, 0.3),
        (-1.0, 0.14),
        (-1.14, 0.0),
        (-0.94, 0.02),
    )
    body = (
        (0.72, 0.06),
        (0.6, 0.26),
        (0.2, 0.36),
        (-0.3, 0.24),
        (-0.8, 0.08),
        (-0.82, 0.0),
        (-0.3, -0.16),
        (0.2, -0.22),
        (0.6, -0.14),
    )
    pen.blob((mix_colours(back, colours.paper, 0.22), back), *body)
    belly = ((0.71, 0.02), (0.5, -0.02), (0.1, -0.08), (-0.3, -0.14), (0.2, -0.22), (0.58, -0.14))
    pen.blob(mix_colours(colours.paper, back, 0.2), *belly)
    for step in range(5):
        pen.curve(
            mix_colours(back, colours.paper, 0.45),
            0.008,
            (0.6 - step * 0.05, -0.03 - step * 0.026),
            (0.3, -0.1 - step * 0.022),
            (0.0, -0.13 - step * 0.012),
        )
    pen.blob(
        mix_colours(back, colours.ink, 0.25),
        (0.22, -0.1),
        (0.1, -0.36),
        (-0.06, -0.42),
        (0.04, -0.2),
    )
    eye(pen, colours.ink, 0.47, 0.05, 0.028)


def fish(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.8)
    pen.blob((colours.second, colours.accent), (-0.3, 0), (-0.62, 0.26), (-0.54, 0), (-0.62, -0.26))
    pen.blob(
        mix_colours(colours.accent, colours.ink, 0.2),
        (0.12, 0.2),
        (-0.06, 0.42),
        (-0.26, 0.3),
        (-0.2, 0.14),
    )
    body = ((0.5, 0.0), (0.26, 0.22), (-0.1, 0.24), (-0.38, 0.0), (-0.1, -0.24), (0.26, -0.2))
    pen.blob((mix_colours(colours.accent, colours.second, 0.35), colours.accent), *body)
    for place in (0.14, -0.08):
        band = (
            (place + 0.04, 0.22),
            (place + 0.08, 0),
            (place + 0.04, -0.2),
            (place - 0.03, -0.2),
            (place, 0),
            (place - 0.03, 0.22),
        )
        pen.blob(colours.paper, *band)
    pen.blob(colours.second, (0.06, -0.04), (-0.14, -0.12), (-0.1, 0.02))
    eye(pen, colours.ink, 0.32, 0.05, 0.045)
