"""What somebody wears: a jumper, a jacket, a hooded top, an overall; and glasses."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.sitter import Sitter

_SHOULDERS = ((-0.115, 0.315), (-0.26, 0.265), (-0.37, 0.18), (-0.41, 0.02), (-0.42, -0.1),
              (0.42, -0.1), (0.41, 0.02), (0.37, 0.18), (0.26, 0.265), (0.115, 0.315),
              (0.06, 0.272), (0, 0.258), (-0.06, 0.272))  # fmt: skip


def _jumper(sitter: Sitter) -> None:
    """Striped wool with a round collar."""
    _body(sitter, sitter.colours.clothes)
    for level in (0.2, 0.125, 0.05, -0.02):
        wide = 0.335 + (0.2 - level) * 0.35
        sitter.pen.curve(sitter.colours.second, 0.026, (-wide, level - 0.03), (0, level - 0.075),
                         (wide, level - 0.03), opacity=0.85)  # fmt: skip
    collar = mix_colours(sitter.colours.clothes, sitter.colours.ink, 0.2)
    sitter.pen.curve(
        collar, 0.03, (-0.112, 0.312), (-0.06, 0.262), (0, 0.25), (0.06, 0.262), (0.112, 0.312)
    )


def _jacket(sitter: Sitter) -> None:
    """Lapels over a shirt."""
    colours, pen = sitter.colours, sitter.pen
    cloth = mix_colours(colours.clothes, colours.ink, 0.3)
    _body(sitter, cloth)
    pen.poly((244, 241, 234), (-0.1, 0.31), (0.1, 0.31), (0.0, -0.02))
    pen.poly(
        colours.second, (-0.016, 0.235), (0.016, 0.235), (0.026, 0.05), (0, 0.0), (-0.026, 0.05)
    )
    pen.poly(
        mix_colours(colours.second, colours.ink, 0.2),
        (-0.02, 0.25),
        (0.02, 0.25),
        (0.012, 0.215),
        (-0.012, 0.215),
    )
    for side in (-1, 1):
        lapel = (
            (0.105, 0.325),
            (0.18, 0.27),
            (0.155, 0.2),
            (0.19, 0.18),
            (0.0, -0.06),
            (0.03, 0.14),
        )
        pen.poly(mix_colours(cloth, colours.light, 0.12), *((side * a, b) for a, b in lapel))
        collar = ((0.09, 0.325), (0.118, 0.29), (0.05, 0.21), (0.012, 0.255))
        pen.poly((255, 253, 248), *((side * a, b) for a, b in collar))


def _hood(sitter: Sitter) -> None:
    colours, pen = sitter.colours, sitter.pen
    _body(sitter, colours.clothes)
    hood = mix_colours(colours.clothes, colours.ink, 0.16)
    for side in (-1, 1):
        fold = (
            (0.07, 0.355),
            (0.19, 0.345),
            (0.235, 0.27),
            (0.13, 0.19),
            (0.0, 0.16),
            (0.02, 0.235),
        )
        pen.blob((mix_colours(hood, colours.light, 0.16), hood), *((side * a, b) for a, b in fold))
        pen.curve(mix_colours(colours.second, colours.light, 0.3), 0.009, (side * 0.05, 0.2),
                  (side * 0.058, 0.12), (side * 0.05, 0.03))  # fmt: skip
        pen.disc(mix_colours(colours.second, colours.ink, 0.3), side * 0.05, 0.03, 0.009)


def _overall(sitter: Sitter) -> None:
    """Straps over a plain shirt, with buttons and a pocket."""
    colours, pen = sitter.colours, sitter.pen
    _body(sitter, mix_colours(colours.second, colours.light, 0.3))
    denim = mix_colours(colours.clothes, colours.ink, 0.22)
    pen.box((mix_colours(denim, colours.light, 0.1), denim), -0.2, -0.1, 0.2, 0.15, corner=0.02)
    for side in (-1, 1):
        pen.poly(
            denim,
            (side * 0.2, 0.29),
            (side * 0.26, 0.265),
            (side * 0.17, 0.09),
            (side * 0.11, 0.09),
        )
        pen.disc(colours.light, side * 0.145, 0.115, 0.016)
    pen.box(mix_colours(denim, colours.light, 0.16), -0.085, -0.02, 0.085, 0.09, corner=0.014)


def _scarf(sitter: Sitter) -> None:
    """A coat and a thick scarf, one end over the shoulder."""
    colours, pen = sitter.colours, sitter.pen
    _body(sitter, mix_colours(colours.clothes, colours.ink, 0.4))
    wool = colours.second
    lit, dark = mix_colours(wool, colours.light, 0.2), mix_colours(wool, colours.ink, 0.22)
    pen.blob(
        (lit, dark),
        (0.06, 0.25),
        (0.15, 0.24),
        (0.19, 0.02),
        (0.18, -0.1),
        (0.06, -0.1),
        (0.05, 0.1),
    )
    pen.blob((lit, dark), (-0.165, 0.32), (-0.1, 0.365), (0, 0.335), (0.1, 0.365), (0.165, 0.32),
             (0.15, 0.22), (0, 0.175), (-0.15, 0.22))  # fmt: skip
    for fold in (0.0, 0.04):
        pen.curve(
            dark, 0.006, (-0.14, 0.3 - fold), (0, 0.25 - fold), (0.14, 0.3 - fold), opacity=0.7
        )


def glasses(sitter: Sitter) -> None:
    """Round or square, with a glint."""
    x, y, wide, high = sitter.head
    frame: Colour = mix_colours(sitter.colours.ink, sitter.colours.second, 0.25)
    level, pen = y - high * 0.02, sitter.pen
    square = sitter.dice.random() < 0.5
    for side in (-1, 1):
        at = x + side * wide * 0.45
        pen.oval((235, 244, 250), at, level, 0.05, 0.042, 0.14)
        corners = (
            (-0.052, 0.036),
            (0.052, 0.036),
            (0.046, -0.036),
            (-0.046, -0.036),
            (-0.052, 0.036),
        )
        ring = ((-0.052, 0), (-0.034, 0.038), (0.034, 0.038), (0.052, 0), (0.034, -0.038),
                (-0.034, -0.038), (-0.052, 0), (-0.034, 0.038))  # fmt: skip
        rim = [(at + a, level + b) for a, b in (corners if square else ring)]
        (pen.line if square else pen.curve)(frame, 0.0085, *rim)
        pen.line(
            frame, 0.007, (at + side * 0.05, level + 0.014), (x + side * wide * 1.0, level + 0.022)
        )
        pen.line(
            (255, 255, 255),
            0.005,
            (at - 0.02, level + 0.006),
            (at - 0.004, level + 0.024),
            opacity=0.6,
        )
    pen.curve(
        frame,
        0.008,
        (x - wide * 0.13, level + 0.008),
        (x, level + 0.018),
        (x + wide * 0.13, level + 0.008),
    )


TOPS = (_jumper, _jacket, _hood, _overall, _scarf)


def _body(sitter: Sitter, cloth: Colour) -> None:
    colours, pen = sitter.colours, sitter.pen
    pen.blob(
        (mix_colours(cloth, colours.light, 0.16), mix_colours(cloth, colours.ink, 0.3)), *_SHOULDERS
    )
    for side in (-1, 1):
        seam = ((side * 0.285, 0.14), (side * 0.265, 0.03), (side * 0.27, -0.08))
        pen.curve(mix_colours(cloth, colours.ink, 0.35), 0.006, *seam, opacity=0.7)
