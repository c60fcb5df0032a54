"""Space: nebula, planets, the ground of a moon."""

from __future__ import annotations

from proxyapi.sandbox.media.motifs.sky import stars
from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.stage import Spot, Stage
from proxyapi.sandbox.media.textures import clouds


def space_far(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    deep = mix_colours(colours.zenith, colours.ink, 0.75)
    canvas.sky([(0, deep), (0.6, mix_colours(deep, colours.sky, 0.3)), (1, deep)])
    seed = stage.dice.getrandbits(16)
    for number, tone in enumerate((colours.sky, colours.accent, colours.shallow)):
        field = clouds(stage.width, stage.height, seed + number, 2, 4)
        canvas.shade(((field - 0.52) * 1.5).clip(0, 0.5), tone)
    stars(stage, 190, 1.0)
    x, y = stage.sun_at * stage.width, stage.height * stage.dice.uniform(0.18, 0.32)
    tone = stage.dice.choice((colours.accent, colours.second, colours.shallow, colours.far))
    size = stage.short * stage.dice.uniform(0.08, 0.17)
    planet(stage, x, y, size, tone, rings=stage.dice.random() < 0.6)


def space_ground(stage: Stage) -> Spot:
    """The round horizon of a world from above, with its thin air glowing."""
    colours, canvas = stage.colours, stage.canvas
    radius = stage.width * 0.95
    x, y = stage.width * 0.5, stage.height * 0.8 + radius
    air = mix_colours(colours.shallow, colours.paper, 0.2)
    for step in range(5):
        canvas.disc(x, y, radius + stage.short * 0.012 * (5 - step), air, 0.08 + step * 0.03)
    canvas.disc(x, y, radius, (mix_colours(colours.shallow, colours.deep, 0.25), colours.deep))
    for _ in range(16):
        land = mix_colours(colours.far, colours.near, stage.dice.random())
        a, b = stage.dice.uniform(0.0, 1.0) * stage.width, stage.dice.uniform(0.86, 1.02)
        wide = stage.short * stage.dice.uniform(0.06, 0.2)
        canvas.ellipse(a, b * stage.height, wide, wide * 0.16, land, 0.55)
        canvas.ellipse(
            a + wide, b * stage.height - wide * 0.2, wide, wide * 0.06, colours.paper, 0.22
        )
    return stage.spot(0.68, 0.42)


def moon_ground(stage: Stage) -> Spot:
    dust = mix_colours(stage.colours.paper, stage.colours.far, 0.35)
    for number in range(2):
        tops = stage.rolling(0.72 + number * 0.1, 0.06, 0.7)
        stage.canvas.ridge(tops, (dust, mix_colours(dust, stage.colours.ink, 0.5)))
    for _ in range(11):
        x, y = (
            stage.dice.uniform(0, 1) * stage.width,
            stage.dice.uniform(0.84, 0.98) * stage.height,
        )
        size = stage.short * stage.dice.uniform(0.015, 0.06)
        stage.canvas.ellipse(x, y, size, size * 0.32, mix_colours(dust, stage.colours.ink, 0.45))
        stage.canvas.ellipse(
            x, y + size * 0.1, size * 0.9, size * 0.24, mix_colours(dust, stage.colours.ink, 0.25)
        )
    return stage.spot(0.84, 0.42)


def planet(
    stage: Stage, x: float, y: float, radius: float, tone: Colour, *, rings: bool = False
) -> None:
    canvas, colours = stage.canvas, stage.colours
    canvas.glow(x, y, radius * 1.9, tone, 0.4)
    canvas.disc(
        x, y, radius, (mix_colours(tone, colours.paper, 0.35), mix_colours(tone, colours.ink, 0.45))
    )
    for band in range(4):
        place = y + radius * (-0.55 + band * 0.34)
        half = (max(0.0, radius**2 - (place - y) ** 2)) ** 0.5
        shade = mix_colours(tone, colours.second, 0.4 if band % 2 else 0.1)
        canvas.ellipse(x, place, half * 0.96, radius * 0.06, shade, 0.5)
    if rings:
        for size, strength in ((1.85, 0.5), (1.6, 0.75), (1.42, 0.4)):
            path = [(x + radius * size * c, y + radius * size * s) for c, s in _RING]
            canvas.curve(
                path, radius * 0.045, mix_colours(colours.second, colours.paper, 0.3), strength
            )


# The visible half of a tilted ring, as shares of its radius.
_RING = (
    (-0.97, 0.16),
    (-0.75, 0.3),
    (-0.3, 0.33),
    (0.2, 0.22),
    (0.7, 0.0),
    (0.97, -0.2),
    (0.9, -0.28),
)
