"""A surface to draw on: smooth-edged shapes, gradients and light, and a near layer.

Coordinates are pixels of the finished picture. After `come_near` everything that is drawn
also belongs to the near layer, which the camera moves against what lies behind it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from proxyapi.sandbox.media.curves import Point, smooth
from proxyapi.sandbox.media.palettes import Colour, mix_colours

Paint = Colour | tuple[Colour, Colour]  # one colour, or one at the top and one at the bottom
Box = tuple[int, int, int, int]

_FINE = 4  # small shapes are drawn this much larger and reduced


class Canvas:
    """`shadows` puts a soft shadow below every shape, as if cut from paper."""

    def __init__(self, width: int, height: int, *, shadows: bool = False) -> None:
        self.width, self.height = width, height
        self.short = min(width, height)
        self.image = Image.new("RGB", (width, height))
        self.behind: Image.Image | None = None
        self.near = Image.new("L", (width, height))
        self.shadows = shadows

    def come_near(self) -> None:
        """What was drawn until now lies behind; what follows stands in front of it."""
        self.behind = self.image.copy()

    def sky(self, stops: Sequence[tuple[float, Colour]]) -> None:
        """Fill everything with a vertical gradient; stops are shares of the height."""
        at = [place * self.height for place, _ in stops]
        rows = np.arange(self.height)
        bands = [np.interp(rows, at, [colour[n] for _, colour in stops]) for n in range(3)]
        column = np.stack(bands, axis=1)[:, None, :]
        dither = np.random.default_rng(1).random((self.height, self.width, 1)) - 0.5
        self.image = Image.fromarray((column + dither).clip(0, 255).round().astype(np.uint8))

    def polygon(self, points: Sequence[Point], paint: Paint, opacity: float = 1.0) -> None:
        self._drawn(points, paint, opacity, lambda pen, shape: pen.polygon(shape, fill=255))

    def ellipse(
        self, x: float, y: float, across: float, down: float, paint: Paint, opacity: float = 1.0
    ) -> None:
        """Centre and the two radii."""
        corners = [(x - across, y - down), (x + across, y + down)]
        self._drawn(corners, paint, opacity, lambda pen, shape: pen.ellipse(shape, fill=255))

    def disc(self, x: float, y: float, radius: float, paint: Paint, opacity: float = 1.0) -> None:
        self.ellipse(x, y, radius, radius, paint, opacity)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        paint: Paint,
        opacity: float = 1.0,
        corner: float = 0.0,
    ) -> None:
        corners = [(x, y), (x + max(width, 0), y + max(height, 0))]
        self._drawn(
            corners,
            paint,
            opacity,
            lambda pen, shape: pen.rounded_rectangle(shape, corner * _FINE, fill=255),
        )

    def line(
        self, points: Sequence[Point], width: float, paint: Paint, opacity: float = 1.0
    ) -> None:
        """A stroke with round ends and joints; `width` in pixels."""

        def stroke(pen: ImageDraw.ImageDraw, shape: list[Point]) -> None:
            thick = max(1, round(width * _FINE))
            pen.line(shape, fill=255, width=thick, joint="curve")
            for x, y in (shape[0], shape[-1]):
                half = thick / 2
                pen.ellipse([(x - half, y - half), (x + half, y + half)], fill=255)

        self._drawn(points, paint, opacity, stroke, margin=width)

    def curve(
        self, points: Sequence[Point], width: float, paint: Paint, opacity: float = 1.0
    ) -> None:
        self.line(smooth(points), width, paint, opacity)

    def blob(self, points: Sequence[Point], paint: Paint, opacity: float = 1.0) -> None:
        """A closed outline bent smoothly through the points."""
        self.polygon(smooth(points, closed=True), paint, opacity)

    def ridge(self, tops: NDArray[np.float32], paint: Paint, opacity: float = 1.0) -> None:
        """Ground from a height per column (in pixels from the top) down to the lower edge."""
        top = max(0, math.floor(float(tops.min())) - 1)
        if top >= self.height:
            return
        rows = np.arange(top, self.height, dtype=np.float32)[:, None]
        cover = np.clip(rows - tops[None, :] + 0.5, 0, 1) * 255
        mask = Image.fromarray(cover.astype(np.uint8))
        self._lay(mask, (0, top, self.width, self.height), paint, opacity)

    def glow(self, x: float, y: float, radius: float, colour: Colour, strength: float) -> None:
        """Light that falls off around a point; it brightens and never covers."""
        box = self._clipped(x - radius, y - radius, x + radius, y + radius)
        if box is None:
            return
        left, top, right, bottom = box
        across = (np.arange(left, right, dtype=np.float32) - x) / radius
        down = (np.arange(top, bottom, dtype=np.float32) - y) / radius
        away = np.sqrt(across[None, :] ** 2 + down[:, None] ** 2)
        light = np.asarray(np.clip(1 - away, 0, 1) ** 2 * strength, np.float32)
        self._shine(box, light, colour)

    def flood(self, x: float, y: float, radius: float, colour: Colour, strength: float) -> None:
        """A glow that falls on near and far alike."""
        front, behind = self.image, self.behind
        self.behind = None
        for layer in (behind, front):
            if layer is not None:
                self.image = layer
                self.glow(x, y, radius, colour, strength)
        self.behind = behind

    def beam(
        self, x: float, y: float, points: Sequence[Point], colour: Colour, strength: float
    ) -> None:
        """A cone of light from (x, y) over the given outline, fading with the distance."""
        reach = max(math.hypot(a - x, b - y) for a, b in points)
        box = self._clipped(*_around(points, 2))
        if box is None:
            return
        left, top, right, bottom = box
        mask = Image.new("L", (right - left, bottom - top))
        ImageDraw.Draw(mask).polygon([(a - left, b - top) for a, b in points], fill=255)
        soft = np.asarray(mask.filter(ImageFilter.BoxBlur(self.short / 150)), np.float32) / 255
        across = np.arange(left, right, dtype=np.float32)[None, :] - x
        down = np.arange(top, bottom, dtype=np.float32)[:, None] - y
        fade = np.clip(1 - np.sqrt(across**2 + down**2) / reach, 0, 1)
        self._shine(box, np.asarray(soft * fade * strength, np.float32), colour)

    def patch(self, box: Box, colour: Colour) -> None:
        """A rectangle of whole pixels, for things too many to have smooth edges."""
        self.image.paste(colour, box)
        if self.behind is not None:
            self.near.paste(255, box)

    def shade(self, cover: NDArray[np.float32], colour: Colour) -> None:
        """Mix a colour in by a share per pixel of the whole picture."""
        mask = Image.fromarray((cover.clip(0, 1) * 255).astype(np.uint8))
        self.image.paste(colour, (0, 0), mask)

    def _shine(self, box: Box, light: NDArray[np.float32], colour: Colour) -> None:
        under = np.asarray(self.image.crop(box), np.float32)
        lit = under + (np.array(colour, np.float32) - under * 0.6) * light[..., None]
        self.image.paste(Image.fromarray(lit.clip(0, 255).astype(np.uint8)), box[:2])
        if self.behind is not None:
            self._mark(Image.fromarray((light * 510).clip(0, 255).astype(np.uint8)), box)

    def _drawn(
        self,
        points: Sequence[Point],
        paint: Paint,
        opacity: float,
        draw: Callable[[ImageDraw.ImageDraw, list[Point]], None],
        margin: float = 0.0,
    ) -> None:
        box = self._clipped(*_around(points, margin + 2))
        if box is None:
            return
        left, top, right, bottom = box
        mask = Image.new("L", ((right - left) * _FINE, (bottom - top) * _FINE))
        shape = [((x - left) * _FINE, (y - top) * _FINE) for x, y in points]
        draw(ImageDraw.Draw(mask), shape)
        self._lay(mask.reduce(_FINE), box, paint, opacity)

    def _lay(self, mask: Image.Image, box: Box, paint: Paint, opacity: float) -> None:
        if opacity < 1:
            share = max(0.0, opacity)
            mask = mask.point(lambda level: round(level * share))
        if self.shadows and opacity > 0.75:
            self._cast(mask, box)
        if isinstance(paint[0], tuple):
            fill = _gradient(paint, mask.size)
            self.image.paste(fill, box[:2], mask)
        else:
            self.image.paste(paint, box[:2], mask)
        if self.behind is not None:
            self._mark(mask, box)

    def _mark(self, mask: Image.Image, box: Box) -> None:
        known = self.near.crop(box)
        self.near.paste(ImageChops.lighter(known, mask), box[:2])

    def _cast(self, mask: Image.Image, box: Box) -> None:
        drop = max(2, self.short // 90)
        room = drop * 3
        wide = Image.new("L", (mask.width + 2 * room, mask.height + 2 * room))
        wide.paste(mask, (room, room))
        soft = wide.filter(ImageFilter.BoxBlur(drop)).point(lambda level: level * 2 // 5)
        place = (box[0] - room + drop // 2, box[1] - room + drop)
        self.image.paste((12, 10, 30), place, soft)
        if self.behind is not None:
            frame = (place[0], place[1], place[0] + soft.width, place[1] + soft.height)
            shade = Image.new("L", self.near.size)
            shade.paste(soft, frame[:2])
            self.near = ImageChops.lighter(self.near, shade)

    def _clipped(self, left: float, top: float, right: float, bottom: float) -> Box | None:
        box = (
            max(0, math.floor(left)),
            max(0, math.floor(top)),
            min(self.width, math.ceil(right)),
            min(self.height, math.ceil(bottom)),
        )
        return box if box[0] < box[2] and box[1] < box[3] else None


def _around(points: Sequence[Point], margin: float) -> tuple[float, float, float, float]:
    across, down = [x for x, _ in points], [y for _, y in points]
    return min(across) - margin, min(down) - margin, max(across) + margin, max(down) + margin


def _gradient(paint: tuple[Colour, Colour], size: tuple[int, int]) -> Image.Image:
    column = Image.new("RGB", (1, 64))
    for row in range(64):
        column.putpixel((0, row), mix_colours(paint[0], paint[1], row / 63))
    return column.resize(size, Image.Resampling.BILINEAR)
