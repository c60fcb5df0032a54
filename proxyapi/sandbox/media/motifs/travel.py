"""Things that carry people, and what shows them the way."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import mixed
from proxyapi.sandbox.media.stage import Stage


def lighthouse(stage: Stage, x: float, y: float, size: float) -> None:
    canvas, colours = stage.canvas, stage.colours
    rock = mixed(colours.near, colours.ink, 0.45)
    canvas.blob(
        [
            (x - size * 0.75, y + size * 0.3),
            (x - size * 0.4, y - size * 0.02),
            (x, y - size * 0.09),
            (x + size * 0.34, y - size * 0.02),
            (x + size * 0.85, y + size * 0.3),
        ],
        (mixed(rock, colours.far, 0.25), rock),
    )
    top, foot = size * 0.055, size * 0.1
    head = y - size * 1.02
    if stage.hour != "day":
        lamp_y = head - size * 0.035
        for side in (-1, 1):
            far = x + side * stage.width
            lean = 0.3 if side > 0 else 0.12
            cone = [
                (x, lamp_y - 3),
                (far, lamp_y - size * (lean + 0.38)),
                (far, lamp_y + size * (0.5 - lean)),
                (x, lamp_y + 3),
            ]
            canvas.beam(x, lamp_y, cone, stage.light(), 0.75)
        canvas.glow(x, lamp_y, size * 0.45, stage.light(), 0.8)
    white = mixed(colours.paper, colours.sky, 0.1)
    body = [
        (x - top, head),
        (x + top, head),
        (x + foot, y - size * 0.04),
        (x - foot, y - size * 0.04),
    ]
    canvas.polygon(body, white)
    for start, end in ((0.2, 0.4), (0.6, 0.8)):
        _band(stage, x, y - size * 0.04, (foot, top), size * 0.98, start, end)
    shade = mixed(colours.ink, colours.sky, 0.2)
    canvas.polygon(
        [
            (x + top * 0.2, head),
            (x + top, head),
            (x + foot, y - size * 0.04),
            (x + foot * 0.25, y - size * 0.04),
        ],
        shade,
        0.32,
    )
    canvas.box(x - top * 1.5, head - size * 0.012, top * 3, size * 0.025, colours.ink)
    canvas.box(x - top * 0.8, head - size * 0.085, top * 1.6, size * 0.075, stage.light())
    canvas.box(x - size * 0.003, head - size * 0.085, size * 0.006, size * 0.075, colours.ink)
    canvas.polygon(
        [
            (x - top * 1.15, head - size * 0.08),
            (x, head - size * 0.17),
            (x + top * 1.15, head - size * 0.08),
        ],
        colours.accent,
    )
    canvas.disc(x, head - size * 0.175, size * 0.012, colours.ink)
    canvas.box(
        x - top * 0.35, y - size * 0.16, top * 0.7, size * 0.12, colours.ink, 0.85, top * 0.3
    )


def _band(
    stage: Stage,
    x: float,
    y: float,
    radii: tuple[float, float],
    size: float,
    start: float,
    end: float,
) -> None:
    def half(share: float) -> float:
        return radii[0] + (radii[1] - radii[0]) * share

    low, high = y - size * start, y - size * end
    ring = [
        (x - half(start), low),
        (x - half(end), high),
        (x + half(end), high),
        (x + half(start), low),
    ]
    stage.canvas.polygon(ring, stage.colours.accent)
