"""People: one who walks, two who talk, one who looks at the stars."""

from __future__ import annotations

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.motifs.cosmos import planet
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Stage

_SKINS = ((244, 200, 166), (224, 164, 120), (176, 114, 78), (124, 78, 54))


def walker(stage: Stage, x: float, y: float, size: float) -> None:
    """Somebody with a rucksack and a scarf in the wind."""
    colours, pen = stage.colours, stage.brush(x, y, size * 0.9)
    coat = colours.accent
    pen.oval(colours.ink, 0, 0.0, 0.26, 0.03, 0.35)
    trousers = mix_colours(colours.ink, colours.deep, 0.4)
    pen.poly(trousers, (-0.08, 0.42), (-0.2, 0.02), (-0.1, 0.02), (0.03, 0.38))
    pen.poly(
        mix_colours(trousers, colours.far, 0.15),
        (-0.02, 0.42),
        (0.12, 0.02),
        (0.22, 0.02),
        (0.1, 0.42),
    )
    for foot in (-0.16, 0.18):
        pen.box(colours.ink, foot - 0.06, 0.0, foot + 0.08, 0.05, corner=0.02)
    pen.box(
        (colours.second, mix_colours(colours.second, colours.ink, 0.3)),
        -0.3,
        0.42,
        -0.08,
        0.76,
        corner=0.06,
    )
    body = ((-0.12, 0.36), (-0.13, 0.74), (0.0, 0.8), (0.12, 0.74), (0.14, 0.36))
    pen.blob((mix_colours(coat, colours.paper, 0.1), mix_colours(coat, colours.ink, 0.3)), *body)
    pen.curve(mix_colours(coat, colours.ink, 0.25), 0.07, (0.02, 0.7), (0.1, 0.54), (0.2, 0.46))
    _head(stage, pen, 0.02, 0.88, 0.085)
    pen.poly(colours.paper, (-0.1, 0.8), (0.1, 0.8), (0.1, 0.76), (-0.1, 0.76))
    pen.blob(colours.paper, (-0.08, 0.79), (-0.3, 0.88), (-0.46, 0.82), (-0.28, 0.8))


def friends(stage: Stage, x: float, y: float, size: float) -> None:
    """Three people side by side, each in another colour."""
    colours = stage.colours
    for offset, tall, tone in (
        (-0.34, 0.94, colours.accent),
        (0.02, 1.04, colours.second),
        (0.36, 0.88, colours.shallow),
    ):
        pen = Brush(stage.canvas, x + offset * size, y, size * tall * 0.9)
        pen.oval(colours.ink, 0, 0, 0.18, 0.025, 0.35)
        trousers = mix_colours(colours.ink, colours.deep, 0.3)
        for leg in (-0.07, 0.07):
            pen.box(trousers, leg - 0.05, 0.0, leg + 0.05, 0.42, corner=0.03)
        shirt = ((-0.14, 0.36), (-0.16, 0.7), (0, 0.79), (0.16, 0.7), (0.14, 0.36))
        pen.blob(
            (mix_colours(tone, colours.paper, 0.12), mix_colours(tone, colours.ink, 0.25)), *shirt
        )
        for side in (-1, 1):
            pen.curve(
                mix_colours(tone, colours.ink, 0.2),
                0.065,
                (side * 0.14, 0.69),
                (side * 0.2, 0.54),
                (side * 0.17, 0.4),
            )
        _head(stage, pen, 0, 0.89, 0.09)


def _head(stage: Stage, pen: Brush, x: float, y: float, size: float) -> None:
    skin: Colour = stage.dice.choice(_SKINS)
    if stage.genre in ("noir", "blueprint"):
        skin = mix_colours(stage.colours.paper, stage.colours.far, 0.2)
    hair = mix_colours(stage.colours.ink, stage.colours.second, stage.dice.choice((0.0, 0.15, 0.5)))
    pen.disc(hair, x - size * 0.12, y + size * 0.14, size * 1.06)
    pen.disc(skin, x + size * 0.14, y - size * 0.08, size * 0.86)
    pen.blob(
        hair,
        (x - size, y + size * 0.2),
        (x - size * 0.2, y + size * 1.2),
        (x + size * 0.9, y + size * 0.5),
        (x, y + size * 0.42),
    )
    for eye in (0.1, 0.6):
        pen.disc(stage.colours.ink, x + size * eye, y - size * 0.05, size * 0.1)


def astronaut(stage: Stage, x: float, y: float, size: float) -> None:
    colours, pen = stage.colours, stage.brush(x, y, size * 0.95)
    suit, shade = colours.paper, mix_colours(colours.paper, colours.sky, 0.4)
    pen.curve(
        colours.second, 0.014, (-0.1, -0.1), (-0.6, -0.3), (-0.9, 0.05), (-1.6, -0.1), opacity=0.8
    )
    pen.box((shade, mix_colours(shade, colours.ink, 0.3)), -0.26, -0.14, 0.2, 0.26, corner=0.07)
    for path in (
        ((-0.1, -0.2), (-0.14, -0.38), (-0.24, -0.5)),
        ((0.1, -0.2), (0.16, -0.36), (0.12, -0.54)),
    ):
        pen.curve(shade, 0.13, *path)
    for path in (
        ((-0.2, 0.14), (-0.38, 0.1), (-0.46, 0.26)),
        ((0.2, 0.14), (0.38, 0.22), (0.44, 0.4)),
    ):
        pen.curve(suit, 0.11, *path)
    pen.blob(
        (suit, shade), (-0.22, 0.2), (-0.21, -0.2), (0, -0.28), (0.21, -0.2), (0.22, 0.2), (0, 0.28)
    )
    pen.box(colours.accent, -0.1, -0.06, 0.1, 0.06, corner=0.02)
    pen.disc((suit, shade), 0, 0.38, 0.21)
    pen.oval(
        (
            mix_colours(colours.second, colours.ink, 0.3),
            mix_colours(colours.deep, colours.ink, 0.5),
        ),
        0.03,
        0.38,
        0.155,
        0.13,
    )
    pen.oval(colours.paper, -0.03, 0.43, 0.05, 0.028, 0.8)


def world(stage: Stage, x: float, y: float, size: float) -> None:
    """A blue planet that fills the view."""
    planet(stage, x, y, size * 0.5, stage.colours.shallow)
    pen = Brush(stage.canvas, x, y, size)
    land = mix_colours(stage.colours.near, stage.colours.second, 0.35)
    for shape in (
        ((-0.3, 0.28), (-0.1, 0.34), (0.02, 0.18), (-0.12, 0.02), (-0.3, 0.1)),
        ((0.1, 0.06), (0.3, 0.12), (0.34, -0.1), (0.2, -0.28), (0.08, -0.12)),
        ((-0.26, -0.14), (-0.12, -0.1), (-0.1, -0.3), (-0.2, -0.32)),
    ):
        pen.blob(land, *shape, opacity=0.9)
    for a, b, wide in ((-0.1, 0.2, 0.2), (0.16, -0.04, 0.18), (-0.16, -0.22, 0.16)):
        pen.oval(stage.colours.paper, a, b, wide, 0.025, 0.55)
