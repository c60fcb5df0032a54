"""The sky of every outdoor scene: gradient, sun or moon, stars, clouds, birds."""

from __future__ import annotations

from proxyapi.sandbox.media.palettes import mix_colours
from proxyapi.sandbox.media.stage import Stage


def sky(stage: Stage) -> None:
    colours, edge = stage.colours, stage.horizon
    low = mix_colours(colours.horizon, colours.sky, 0.2)
    stage.canvas.sky(
        [
            (0.0, colours.zenith),
            (edge * 0.55, colours.sky),
            (edge * 0.98, colours.horizon),
            (1.0, low),
        ]
    )
    if stage.dark:
        stars(stage, 130)
    if stage.genre == "synthwave" and not stage.dark:
        _striped_sun(stage)
    elif stage.dark:
        _moon(stage)
    else:
        _sun(stage)
    if stage.genre in ("anime", "paper-cut", "storybook", "pixel-art") and not stage.dark:
        _heaped_clouds(stage)
    else:
        _veils(stage)
    if not stage.dark and stage.dice.random() < 0.7:
        _birds(stage)


def stars(stage: Stage, count: int, bottom: float | None = None) -> None:
    reach = stage.height * (bottom or stage.horizon * 0.9)
    for _ in range(count):
        bright = stage.dice.random()
        radius = max(0.6, stage.short * (0.0008 + 0.0022 * bright**3))
        stage.canvas.disc(
            stage.dice.uniform(0, stage.width),
            stage.dice.uniform(0, reach),
            radius,
            mix_colours(stage.colours.paper, stage.colours.sun, stage.dice.random()),
            0.35 + 0.65 * bright,
        )


def _sun(stage: Stage) -> None:
    colours = stage.colours
    low = stage.hour == "dusk"
    x = stage.sun_at * stage.width
    y = (stage.horizon * (0.84 if low else 0.42)) * stage.height
    radius = stage.short * (0.105 if low else 0.062)
    stage.canvas.glow(x, y, stage.short * (0.75 if low else 0.55), colours.sun, 0.55)
    stage.canvas.glow(x, y, radius * 2.6, colours.sun, 0.55)
    stage.canvas.disc(x, y, radius, mix_colours(colours.sun, (255, 255, 255), 0.25))


def _striped_sun(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    x, radius = stage.sun_at * stage.width, stage.short * 0.25
    y = stage.horizon * stage.height - radius * 0.45
    canvas.glow(x, y, radius * 2.6, colours.accent, 0.8)
    canvas.disc(x, y, radius, (colours.sun, colours.accent))
    for stripe in range(6):
        top = y - radius * 0.1 + stripe * radius * 0.19
        shade = mix_colours(colours.sky, colours.horizon, 0.35 + stripe * 0.12)
        canvas.box(x - radius * 1.02, top, radius * 2.04, radius * (0.03 + 0.014 * stripe), shade)


def _moon(stage: Stage) -> None:
    colours, canvas = stage.colours, stage.canvas
    x, y = stage.sun_at * stage.width, stage.horizon * 0.36 * stage.height
    radius = stage.short * 0.07
    canvas.glow(x, y, radius * 5.5, colours.sky, 0.9)
    canvas.glow(x, y, radius * 2.2, colours.sun, 0.4)
    face = mix_colours(colours.sun, colours.paper, 0.4)
    canvas.disc(x, y, radius, (face, mix_colours(face, colours.sky, 0.18)))
    for dx, dy, size in (
        (-0.35, -0.2, 0.2),
        (0.25, 0.3, 0.26),
        (0.3, -0.4, 0.13),
        (-0.3, 0.45, 0.12),
    ):
        canvas.disc(x + dx * radius, y + dy * radius, size * radius, colours.sky, 0.28)


def _veils(stage: Stage) -> None:
    """Long thin clouds, lit at dusk, that hold on to the horizon."""
    for _ in range(5):
        y = stage.dice.uniform(0.12, 0.82) * stage.horizon * stage.height
        x = stage.dice.uniform(0, stage.width)
        reach = stage.dice.uniform(0.3, 0.7) * stage.short
        thick = reach * stage.dice.uniform(0.025, 0.05)
        tone = mix_colours(stage.colours.horizon, stage.colours.paper, 0.35)
        strength = 0.10 if stage.dark else 0.24
        for step in range(5):
            offset = stage.dice.uniform(-0.5, 0.5) * reach
            stage.canvas.ellipse(
                x + offset, y + step * thick * 0.35, reach * 0.6, thick, tone, strength
            )


def _heaped_clouds(stage: Stage) -> None:
    lit = mix_colours(stage.colours.paper, stage.colours.sun, 0.15)
    shaded = mix_colours(lit, stage.colours.sky, 0.42)
    for number in range(4):
        x = (number + stage.dice.uniform(0.1, 0.9)) / 4 * stage.width
        y = stage.dice.uniform(0.22, 0.86) * stage.horizon * stage.height
        size = stage.short * stage.dice.uniform(0.06, 0.13)
        cloud(stage, x, y, size, lit, shaded)


def cloud(
    stage: Stage,
    x: float,
    y: float,
    size: float,
    lit: tuple[int, int, int],
    shaded: tuple[int, int, int],
) -> None:
    """A heap of round lobes on a flat foot, lighter above than below."""
    lobes = [
        (part * 0.55 * size + stage.dice.uniform(-0.1, 0.1) * size, height * size)
        for part, height in ((-2.2, 0.28), (-1.2, 0.52), (-0.1, 0.8), (1.0, 0.6), (2.0, 0.34))
    ]
    for paint, drop in ((shaded, 0.12), (lit, -0.06)):
        for offset, radius in lobes:
            shrink = 1.0 if paint == shaded else 0.9
            stage.canvas.ellipse(
                x + offset,
                y - radius * 0.5 + drop * size,
                radius * shrink,
                radius * 0.72,
                paint,
            )
    stage.canvas.box(
        x - 1.35 * size, y - 0.1 * size, 2.65 * size, size * 0.26, shaded, 1, size * 0.12
    )


def _birds(stage: Stage) -> None:
    x = stage.dice.uniform(0.15, 0.8) * stage.width
    y = stage.dice.uniform(0.25, 0.6) * stage.horizon * stage.height
    for _ in range(stage.dice.randint(3, 6)):
        size = stage.short * stage.dice.uniform(0.008, 0.016)
        a, b = x + stage.dice.uniform(-7, 7) * size, y + stage.dice.uniform(-4, 4) * size
        wings = [(a - size, b - size * 0.5), (a - size * 0.4, b - size * 0.55), (a, b)]
        wings += [(a + size * 0.4, b - size * 0.55), (a + size, b - size * 0.5)]
        stage.canvas.curve(wings, max(1.2, size * 0.16), stage.colours.ink, 0.75)
