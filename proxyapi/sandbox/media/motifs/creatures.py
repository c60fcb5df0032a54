"""Animals of the sea, the air and the land."""

from __future__ import annotations

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Stage


def eye(pen: Brush, ink: Colour, x: float, y: float, size: float) -> None:
    pen.disc((250, 248, 240), x, y, size)
    pen.disc(ink, x + size * 0.25, y, size * 0.62)
    pen.disc((255, 255, 255), x + size * 0.1, y + size * 0.3, size * 0.2)


def bird(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.9)
    back = mix_colours(colours.deep, colours.shallow, 0.4)
    pen.blob(
        mix_colours(back, colours.ink, 0.25),
        (-0.3, 0.02),
        (-0.74, 0.12),
        (-0.78, 0.0),
        (-0.4, -0.06),
    )
    far = ((0.06, 0.1), (0.3, 0.5), (0.46, 0.66), (0.28, 0.34), (0.2, 0.06))
    pen.blob(mix_colours(back, colours.ink, 0.3), *far)
    body = ((0.44, 0.12), (0.2, 0.16), (-0.2, 0.1), (-0.4, 0.0), (-0.1, -0.14), (0.26, -0.08))
    pen.blob((back, mix_colours(colours.paper, colours.accent, 0.35)), *body)
    pen.disc(back, 0.4, 0.1, 0.115)
    pen.blob(colours.accent, (0.46, 0.04), (0.3, -0.08), (0.14, -0.1), (0.3, 0.02))
    wing = ((0.16, 0.08), (0.0, 0.36), (-0.3, 0.66), (-0.56, 0.74), (-0.42, 0.44), (-0.24, 0.12))
    pen.blob((mix_colours(back, colours.paper, 0.25), back), *wing)
    for step in range(3):
        pen.curve(
            mix_colours(back, colours.ink, 0.35),
            0.01,
            (-0.1, 0.14),
            (-0.24, 0.34 + step * 0.06),
            (-0.4, 0.46 + step * 0.1),
            opacity=0.7,
        )
    pen.poly(colours.second, (0.49, 0.13), (0.64, 0.08), (0.49, 0.05))
    eye(pen, colours.ink, 0.43, 0.13, 0.026)


def cat(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.9)
    fur = mix_colours(colours.second, colours.accent, 0.4)
    dark = mix_colours(fur, colours.ink, 0.35)
    pen.oval(colours.ink, 0, 0.0, 0.4, 0.04, 0.3)
    pen.curve(dark, 0.08, (-0.22, 0.08), (-0.46, 0.1), (-0.52, 0.32), (-0.42, 0.46))
    pen.blob(
        (fur, dark),
        (-0.28, 0.0),
        (-0.3, 0.26),
        (-0.12, 0.54),
        (0.12, 0.54),
        (0.24, 0.26),
        (0.24, 0.0),
    )
    pen.blob(colours.paper, (0.0, 0.5), (-0.07, 0.3), (0.02, 0.14), (0.11, 0.3))
    for side in (-0.06, 0.14):
        pen.oval(colours.paper, side, 0.03, 0.075, 0.04)
    for side in (-1, 1):
        pen.poly(fur, (side * 0.2, 0.66), (side * 0.2, 0.9), (side * 0.05, 0.8))
        pen.poly(
            mix_colours(colours.accent, colours.paper, 0.4),
            (side * 0.175, 0.7),
            (side * 0.175, 0.84),
            (side * 0.08, 0.78),
        )
    pen.oval((mix_colours(fur, colours.paper, 0.12), fur), 0, 0.65, 0.235, 0.19)
    pen.oval(colours.paper, 0, 0.58, 0.1, 0.075)
    for stripe in (-0.07, 0.0, 0.07):
        pen.line(dark, 0.022, (stripe, 0.82), (stripe * 0.8, 0.74))
    for side in (-0.1, 0.1):
        eye(pen, colours.ink, side, 0.67, 0.042)
    pen.poly(colours.accent, (-0.022, 0.605), (0.022, 0.605), (0, 0.58))
    for side in (-1, 1):
        for lift in (0.02, -0.02):
            pen.line(
                colours.paper,
                0.007,
                (side * 0.08, 0.58),
                (side * 0.32, 0.58 + lift * 2),
                opacity=0.8,
            )


def fox(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    fur, dark = colours.accent, mix_colours(colours.accent, colours.ink, 0.4)
    pen.oval(colours.ink, 0, 0.0, 0.62, 0.04, 0.3)
    pen.blob(
        (fur, dark),
        (-0.34, 0.34),
        (-0.6, 0.2),
        (-0.86, 0.3),
        (-0.98, 0.52),
        (-0.74, 0.5),
        (-0.42, 0.48),
    )
    pen.blob(colours.paper, (-0.84, 0.36), (-0.98, 0.52), (-0.78, 0.49))
    for leg, tone in ((-0.32, dark), (0.22, dark), (-0.22, fur), (0.31, fur)):
        pen.poly(
            tone, (leg - 0.04, 0.3), (leg - 0.025, 0.02), (leg + 0.035, 0.02), (leg + 0.05, 0.3)
        )
        pen.box(colours.ink, leg - 0.03, 0.0, leg + 0.045, 0.08, corner=0.02)
    pen.blob(
        (fur, dark),
        (-0.42, 0.4),
        (-0.3, 0.52),
        (0.1, 0.5),
        (0.4, 0.58),
        (0.42, 0.36),
        (0.1, 0.24),
        (-0.32, 0.24),
    )
    pen.blob(colours.paper, (0.42, 0.5), (0.42, 0.32), (0.28, 0.28), (0.3, 0.42))
    for ear in (0.34, 0.5):
        pen.poly(dark if ear < 0.4 else fur, (ear - 0.05, 0.68), (ear, 0.9), (ear + 0.08, 0.68))
    pen.blob(
        fur,
        (0.26, 0.58),
        (0.3, 0.72),
        (0.5, 0.76),
        (0.62, 0.64),
        (0.82, 0.55),
        (0.6, 0.5),
        (0.4, 0.48),
    )
    pen.blob(colours.paper, (0.82, 0.55), (0.6, 0.585), (0.4, 0.54), (0.44, 0.48), (0.62, 0.49))
    pen.disc(colours.ink, 0.82, 0.556, 0.026)
    eye(pen, colours.ink, 0.53, 0.65, 0.026)


def bee(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.8)
    pen.curve(
        colours.paper, 0.012, (-1.4, -0.2), (-1.1, 0.1), (-0.8, -0.14), (-0.52, 0.0), opacity=0.5
    )
    glass = mix_colours(colours.paper, colours.sky, 0.25)
    for tilt in (-0.18, 0.12):
        wing = ((0.02, 0.18), (tilt - 0.16, 0.5), (tilt, 0.68), (tilt + 0.16, 0.5))
        pen.blob(glass, *wing, opacity=0.85)
    body = ((0.34, 0.02), (0.2, 0.22), (-0.16, 0.24), (-0.42, 0.04), (-0.2, -0.2), (0.18, -0.2))
    pen.blob((mix_colours(colours.second, colours.paper, 0.2), colours.second), *body)
    for place in (0.06, -0.12, -0.28):
        half = 0.23 - abs(place + 0.04) * 0.34
        band = (
            (place + 0.045, half),
            (place + 0.06, 0),
            (place + 0.045, -half),
            (place - 0.045, -half),
            (place - 0.03, 0),
            (place - 0.045, half),
        )
        pen.blob(colours.ink, *band)
    pen.poly(colours.ink, (-0.4, 0.05), (-0.52, 0.0), (-0.4, -0.02))
    pen.disc(colours.ink, 0.34, 0.03, 0.135)
    for lift in (0.3, 0.22):
        pen.curve(colours.ink, 0.018, (0.38, 0.12), (0.46, lift), (0.54, lift + 0.04))
    eye(pen, colours.ink, 0.39, 0.06, 0.04)


def bear(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size)
    fur = mix_colours(colours.paper, colours.far, 0.15) if stage.genre != "noir" else colours.paper
    if stage.horizon > 0.53:
        fur = mix_colours(colours.second, colours.ink, 0.5)
    dark = mix_colours(fur, colours.ink, 0.3)
    pen.oval(colours.ink, 0, 0.0, 0.66, 0.04, 0.3)
    for leg, tone in ((-0.38, dark), (0.2, dark), (-0.24, fur), (0.32, fur)):
        pen.box(
            (tone, mix_colours(tone, colours.ink, 0.2)),
            leg - 0.09,
            0.0,
            leg + 0.09,
            0.34,
            corner=0.06,
        )
    pen.blob(
        (fur, dark),
        (-0.52, 0.3),
        (-0.46, 0.58),
        (-0.1, 0.66),
        (0.24, 0.7),
        (0.46, 0.56),
        (0.44, 0.3),
        (0, 0.22),
    )
    for ear in (0.42, 0.6):
        pen.disc(dark if ear > 0.5 else fur, ear, 0.8, 0.06)
    pen.blob(fur, (0.3, 0.6), (0.36, 0.78), (0.54, 0.82), (0.68, 0.7), (0.66, 0.54), (0.44, 0.48))
    pen.oval(mix_colours(fur, colours.paper, 0.3), 0.67, 0.6, 0.11, 0.085)
    pen.oval(colours.ink, 0.75, 0.63, 0.034, 0.026)
    eye(pen, colours.ink, 0.56, 0.7, 0.024)
