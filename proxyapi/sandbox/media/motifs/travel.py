"""Things that carry people, and the tower that shows them the way."""

from __future__ import annotations

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def lighthouse(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    rock = mix_colours(colours.near, colours.ink, 0.45)
    slope = ((-0.75, -0.3), (-0.4, 0.02), (0, 0.09), (0.34, 0.02), (0.85, -0.3))
    pen.blob((mix_colours(rock, colours.far, 0.25), rock), *slope)
    if stage.hour != "day":
        _beams(stage, pen)
    tower = ((-0.1, 0.04), (-0.055, 1.02), (0.055, 1.02), (0.1, 0.04))
    pen.poly(mix_colours(colours.paper, colours.sky, 0.1), *tower)
    for low, high in ((0.22, 0.42), (0.62, 0.82)):
        a, b = 0.1 - 0.046 * low, 0.1 - 0.046 * high
        pen.poly(colours.accent, (-a, low), (-b, high), (b, high), (a, low))
    shade = mix_colours(colours.ink, colours.sky, 0.2)
    pen.poly(shade, (0.02, 0.04), (0.01, 1.02), (0.055, 1.02), (0.1, 0.04), opacity=0.32)
    pen.box(colours.ink, -0.085, 1.0, 0.085, 1.03)
    pen.box(stage.light(), -0.045, 1.03, 0.045, 1.11)
    pen.box(colours.ink, -0.003, 1.03, 0.003, 1.11)
    pen.poly(colours.accent, (-0.065, 1.1), (0, 1.2), (0.065, 1.1))
    pen.disc(colours.ink, 0, 1.2, 0.012)
    pen.box(colours.ink, -0.022, 0.04, 0.022, 0.16, corner=0.02, opacity=0.85)


def _beams(stage: Stage, pen: Brush) -> None:
    x, y = pen.at((0, 1.07))
    far = stage.width / pen.size
    to_sun = (stage.sun_at * stage.width - x) / pen.size
    for side, below, above in ((-1, 0.22, 0.53), (1, 0.32, 0.43)):
        # A moon inside the beam would be seen twice, once in each layer.
        reach = min(far, 0.78 * to_sun * side) if to_sun * side > 0 else far
        end, low, high = side * reach, below * reach / far, above * reach / far
        cone = ((0, 1.08), (end, 1.07 + high), (end, 1.07 - low), (0, 1.06))
        stage.canvas.beam(x, y, [pen.at(point) for point in cone], stage.light(), 0.8)
    pen.glow(stage.light(), 0, 1.07, 0.45, 0.8)


def boat(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    cloth = mix_colours(colours.paper, colours.sun, 0.2)
    pen.line(colours.ink, 0.018, (0.0, 0.1), (0.0, 0.98))
    pen.blob(
        (cloth, mix_colours(cloth, colours.sky, 0.3)),
        (0.03, 0.94),
        (0.2, 0.6),
        (0.42, 0.24),
        (0.03, 0.2),
    )
    jib = ((-0.03, 0.84), (-0.14, 0.5), (-0.34, 0.22), (-0.03, 0.2))
    pen.blob((colours.accent, mix_colours(colours.accent, colours.ink, 0.25)), *jib)
    hull = ((-0.5, 0.16), (-0.36, -0.06), (0.34, -0.06), (0.5, 0.16))
    pen.poly((colours.second, mix_colours(colours.accent, colours.ink, 0.45)), *hull)
    pen.line(colours.paper, 0.014, (-0.46, 0.12), (0.46, 0.12))
    pen.poly(colours.accent, (0.0, 0.98), (0.13, 0.94), (0.0, 0.9))
    foam = mix_colours(colours.paper, colours.shallow, 0.2)
    pen.curve(
        foam,
        0.016,
        (-0.6, -0.03),
        (-0.3, -0.06),
        (0.1, -0.04),
        (0.5, -0.07),
        (0.75, -0.03),
        opacity=0.7,
    )


def train(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    pen.box(mix_colours(colours.ink, colours.far, 0.3), -4, -0.06, 4, -0.03)
    for car in range(3):
        left = -1.75 + car * 0.92
        body = (
            mix_colours(colours.accent, colours.paper, 0.12),
            mix_colours(colours.accent, colours.ink, 0.3),
        )
        pen.box(body, left, 0.04, left + 0.87, 0.46, corner=0.05)
        pen.box(
            mix_colours(colours.accent, colours.ink, 0.5),
            left,
            0.43,
            left + 0.87,
            0.49,
            corner=0.03,
        )
        pen.box(colours.second, left, 0.17, left + 0.87, 0.2)
        for window in range(4):
            a = left + 0.08 + window * 0.195
            pen.box(stage.light(), a, 0.25, a + 0.13, 0.38, corner=0.02)
        for wheel in (0.14, 0.28, 0.6, 0.74):
            pen.disc(colours.ink, left + wheel, 0.02, 0.05)
    nose = ((1.0, 0.04), (1.0, 0.49), (1.25, 0.47), (1.52, 0.3), (1.62, 0.12), (1.6, 0.04))
    pen.poly(
        (
            mix_colours(colours.paper, colours.sky, 0.15),
            mix_colours(colours.paper, colours.ink, 0.3),
        ),
        *nose,
    )
    pen.poly(
        mix_colours(colours.ink, colours.sky, 0.3),
        (1.24, 0.4),
        (1.25, 0.27),
        (1.5, 0.26),
        (1.4, 0.37),
    )
    pen.box(colours.accent, 1.0, 0.14, 1.6, 0.19)
    if stage.hour != "day":
        cone = [pen.at(p) for p in ((1.6, 0.14), (3.6, 0.4), (3.6, -0.2), (1.6, 0.1))]
        stage.canvas.beam(*pen.at((1.55, 0.12)), cone, stage.light(), 0.7)
    pen.disc(stage.light(), 1.56, 0.13, 0.035)


def rocket(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.glow(colours.second, 0, -0.62, 0.5, 0.9)
    pen.blob(
        (colours.second, colours.accent),
        (-0.1, -0.42),
        (-0.13, -0.65),
        (0, -0.98),
        (0.13, -0.65),
        (0.1, -0.42),
    )
    pen.blob(
        colours.paper, (-0.05, -0.44), (-0.05, -0.58), (0, -0.74), (0.05, -0.58), (0.05, -0.44)
    )
    for side in (-1, 1):
        fin = ((side * 0.12, -0.12), (side * 0.32, -0.42), (side * 0.3, -0.5), (side * 0.1, -0.36))
        pen.blob(mix_colours(colours.accent, colours.ink, 0.12 if side > 0 else 0.0), *fin)
    shell = (
        (0, 0.56),
        (-0.14, 0.3),
        (-0.19, 0.0),
        (-0.14, -0.4),
        (0.14, -0.4),
        (0.19, 0.0),
        (0.14, 0.3),
    )
    pen.blob((colours.paper, mix_colours(colours.paper, colours.sky, 0.45)), *shell)
    shade = ((0.03, 0.5), (0.1, 0.1), (0.06, -0.4), (0.14, -0.4), (0.18, 0.0), (0.12, 0.3))
    pen.blob(mix_colours(colours.ink, colours.sky, 0.4), *shade, opacity=0.28)
    pen.blob(colours.accent, (0, 0.57), (-0.085, 0.41), (0, 0.38), (0.085, 0.41))
    pen.disc(colours.accent, 0, 0.14, 0.095)
    pen.disc(mix_colours(colours.shallow, colours.ink, 0.3), 0, 0.14, 0.068)
    pen.disc(colours.paper, -0.022, 0.165, 0.018, 0.8)


def balloon(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    for offset in (-0.06, 0.06):
        pen.line(colours.ink, 0.008, (offset * 1.8, -0.08), (offset, -0.36))
    outline = (
        (0, 0.52),
        (-0.26, 0.44),
        (-0.38, 0.2),
        (-0.3, 0.0),
        (-0.1, -0.16),
        (0.1, -0.16),
        (0.3, 0),
        (0.38, 0.2),
        (0.26, 0.44),
    )
    pen.blob((mix_colours(colours.accent, colours.paper, 0.15), colours.accent), *outline)
    for wide, tone in ((0.24, colours.second), (0.1, colours.paper)):
        strip = (
            (0, 0.53),
            (-wide, 0.4),
            (-wide * 1.15, 0.2),
            (-wide * 0.9, 0.0),
            (-0.05, -0.17),
            (0.05, -0.17),
            (wide * 0.9, 0),
            (wide * 1.15, 0.2),
            (wide, 0.4),
        )
        pen.blob((mix_colours(tone, colours.paper, 0.2), tone), *strip)
    pen.blob(
        colours.ink, (0.1, 0.5), (0.33, 0.3), (0.3, 0.02), (0.08, -0.16), (0.22, 0.1), opacity=0.14
    )
    basket = mix_colours(colours.second, colours.ink, 0.4)
    pen.box(
        (basket, mix_colours(basket, colours.ink, 0.3)), -0.075, -0.47, 0.075, -0.35, corner=0.02
    )
    pen.glow(stage.light(), 0, -0.26, 0.14, 0.5)


def plane(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.9)
    trail = mix_colours(colours.paper, colours.sky, 0.2)
    for step in range(3):
        pen.line(trail, 0.05, (-0.5, -0.05), (-1.2 - step * 0.7, -0.16 - step * 0.1), opacity=0.18)
    pen.poly(
        mix_colours(colours.accent, colours.ink, 0.3),
        (-0.1, 0.06),
        (-0.32, 0.36),
        (-0.22, 0.36),
        (0.16, 0.08),
    )
    body = (
        (-0.56, 0.1),
        (-0.3, -0.06),
        (0.3, -0.09),
        (0.56, -0.02),
        (0.62, 0.05),
        (0.5, 0.13),
        (0.1, 0.14),
    )
    pen.blob((colours.paper, mix_colours(colours.paper, colours.sky, 0.5)), *body)
    pen.poly(colours.accent, (-0.54, 0.1), (-0.68, 0.38), (-0.54, 0.38), (-0.36, 0.11))
    pen.poly(
        (colours.accent, mix_colours(colours.accent, colours.ink, 0.3)),
        (0.12, 0.0),
        (-0.3, -0.34),
        (-0.16, -0.34),
        (0.32, 0.0),
    )
    for window in range(7):
        pen.disc(mix_colours(colours.ink, colours.sky, 0.35), -0.24 + window * 0.09, 0.07, 0.02)
    pen.poly(mix_colours(colours.ink, colours.sky, 0.35), (0.5, 0.11), (0.46, 0.05), (0.58, 0.05))


def car(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    pen.oval(colours.ink, 0, 0.0, 0.72, 0.05, 0.35)
    if stage.hour != "day":
        cone = [pen.at(p) for p in ((0.62, 0.22), (2.2, 0.4), (2.2, -0.05), (0.62, 0.14))]
        stage.canvas.beam(*pen.at((0.6, 0.18)), cone, stage.light(), 0.7)
    cabin = ((-0.42, 0.28), (-0.32, 0.52), (0.12, 0.54), (0.34, 0.3))
    pen.blob(mix_colours(colours.accent, colours.ink, 0.12), *cabin)
    glass = mix_colours(colours.sky, colours.paper, 0.4)
    pen.poly(glass, (-0.35, 0.32), (-0.28, 0.48), (-0.08, 0.49), (-0.08, 0.32))
    pen.poly(glass, (-0.03, 0.32), (-0.03, 0.49), (0.1, 0.49), (0.25, 0.32))
    pen.box(
        (colours.accent, mix_colours(colours.accent, colours.ink, 0.35)),
        -0.64,
        0.09,
        0.64,
        0.34,
        corner=0.1,
    )
    pen.box(colours.paper, -0.62, 0.2, 0.62, 0.215, opacity=0.6)
    for wheel in (-0.38, 0.38):
        pen.disc(colours.ink, wheel, 0.1, 0.115)
        pen.disc(mix_colours(colours.paper, colours.ink, 0.3), wheel, 0.1, 0.055)
    pen.disc(stage.light(), 0.6, 0.22, 0.04)
