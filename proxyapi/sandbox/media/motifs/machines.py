"""Machines: computer, robot, camera."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def computer(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    pen.oval(colours.ink, 0, 0.0, 0.75, 0.05, 0.3)
    pen.glow(colours.shallow, 0, 0.5, 0.9, 0.45)
    pen.box(mix_colours(colours.ink, colours.far, 0.15), -0.56, 0.1, 0.56, 0.84, corner=0.05)
    screen = (
        mix_colours(colours.deep, colours.ink, 0.3),
        mix_colours(colours.deep, colours.shallow, 0.3),
    )
    pen.box(screen, -0.51, 0.15, 0.51, 0.79, corner=0.02)
    tones = (colours.second, colours.shallow, colours.accent, colours.paper)
    for row in range(7):
        left = -0.45 + (0.07 if row in (1, 2, 4) else 0.0)
        for word in range(3):
            wide = 0.06 + 0.16 * stage.dice.random()
            low = 0.67 - row * 0.075
            if left + wide < 0.4:
                pen.box(tones[(row + word) % 4], left, low, left + wide, low + 0.032, corner=0.014)
            left += wide + 0.04
    base = mix_colours(colours.paper, colours.far, 0.35)
    pen.poly(
        (base, mix_colours(base, colours.ink, 0.3)),
        (-0.56, 0.1),
        (0.56, 0.1),
        (0.74, 0.0),
        (-0.74, 0.0),
    )
    pen.box(mix_colours(base, colours.ink, 0.4), -0.74, -0.025, 0.74, 0.002, corner=0.012)


def robot(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size, 1)
    steel = mix_colours(colours.paper, colours.shallow, 0.3)
    dark = mix_colours(steel, colours.ink, 0.4)
    pen.oval(colours.ink, 0, 0, 0.42, 0.04, 0.3)
    for side in (-1, 1):
        pen.box(dark, side * 0.14 - 0.06, 0.0, side * 0.14 + 0.06, 0.2, corner=0.04)
        pen.curve(
            dark,
            0.07,
            (side * 0.26, 0.46),
            (side * 0.42, 0.36),
            (side * 0.4, 0.22 + 0.34 * (side > 0)),
        )
        pen.disc(colours.accent, side * 0.4, 0.22 + 0.34 * (side > 0), 0.055)
    pen.box((steel, dark), -0.27, 0.16, 0.27, 0.54, corner=0.08)
    pen.box(mix_colours(colours.ink, colours.deep, 0.5), -0.16, 0.24, 0.16, 0.42, corner=0.03)
    for number, tall in enumerate((0.05, 0.11, 0.08, 0.13)):
        pen.box(colours.second, -0.12 + number * 0.065, 0.26, -0.08 + number * 0.065, 0.26 + tall)
    pen.box(dark, -0.06, 0.52, 0.06, 0.6)
    pen.box((mix_colours(steel, colours.paper, 0.4), steel), -0.31, 0.58, 0.31, 0.94, corner=0.12)
    pen.box(mix_colours(colours.ink, colours.deep, 0.4), -0.24, 0.65, 0.24, 0.87, corner=0.09)
    for eye in (-0.1, 0.1):
        pen.glow(colours.second, eye, 0.77, 0.13, 0.8)
        pen.oval(colours.second, eye, 0.77, 0.04, 0.055)
    pen.line(dark, 0.025, (0, 0.94), (0, 1.04))
    pen.disc(colours.accent, 0, 1.06, 0.04)


def camera(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.8, 1)
    body = mix_colours(colours.ink, colours.far, 0.2)
    pen.box(mix_colours(colours.paper, colours.far, 0.4), -0.22, 0.3, 0.2, 0.52, corner=0.06)
    pen.box((mix_colours(body, colours.paper, 0.18), body), -0.6, -0.36, 0.6, 0.38, corner=0.09)
    pen.box(colours.accent, -0.6, 0.1, 0.6, 0.18)
    for radius, tone in (
        (0.31, colours.paper),
        (0.27, body),
        (0.21, colours.deep),
        (0.13, colours.ink),
    ):
        pen.disc(tone, 0, -0.02, radius)
    pen.disc(mix_colours(colours.shallow, colours.paper, 0.4), -0.08, 0.07, 0.05, 0.85)
    pen.disc(colours.shallow, 0.06, -0.09, 0.03, 0.6)
    pen.box(stage.light(), 0.36, 0.22, 0.52, 0.31, corner=0.03)
