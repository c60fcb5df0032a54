"""What lies over the pictures of a film and under its words: grain, dust, or the look of a tape.

Each frame's veil follows from the film's seed and the frame's number alone.
"""

from __future__ import annotations

import random

import numpy as np
from PIL import Image, ImageChops, ImageDraw

from proxyapi.sandbox.media.film import Film
from proxyapi.sandbox.media.planes import Planes

_GRAINS = 6  # patterns, taken in turn at random places
_GRAIN = 22  # steps of luma from the darkest to the brightest grain
_HELD = 2  # frames for which a speck stays, as on film run at half the rate
_SHIFT = 3  # pixels by which a tape's colours lag behind
_BAND_SECONDS = 5.0


class FilmOverlay:
    def __init__(self, film: Film, size: tuple[int, int]) -> None:
        self.kind, self.seed, self.size = film.overlay, film.seed, size
        width, height = size
        if self.kind == "film-grain":
            self.grains = [self._grain(number) for number in range(_GRAINS)]
        elif self.kind == "vhs":
            lines = np.full((height, width), 255, np.uint8)
            lines[1::3] = 208
            self.lines = Image.fromarray(lines)

    def put(self, target: Planes, number: int) -> None:
        """Change the frame's planes; `number` counts frames from 0."""
        if self.kind == "film-grain":
            self._put_grain(target, number)
        elif self.kind == "dust":
            self._put_dust(target, number)
        elif self.kind == "vhs":
            self._put_tape(target, number)

    def _grain(self, number: int) -> Image.Image:
        """A pattern a little larger than the frame, so that it can be shifted."""
        width, height = self.size
        dice = np.random.default_rng(self.seed * 31 + number)
        grain = dice.integers(0, _GRAIN, (height + 32, width + 32), dtype=np.uint8)
        return Image.fromarray(grain)

    def _put_grain(self, target: Planes, number: int) -> None:
        dice = self._dice(number)
        x, y = dice.randrange(32), dice.randrange(32)
        width, height = self.size
        grain = dice.choice(self.grains).crop((x, y, x + width, y + height))
        target[0].paste(ImageChops.add(target[0], grain, 1, -_GRAIN // 2))

    def _put_dust(self, target: Planes, number: int) -> None:
        dice = self._dice(number // _HELD)
        width, height = self.size
        short, pen = min(self.size), ImageDraw.Draw(target[0])
        for _ in range(dice.randrange(3, 9)):
            x, y = dice.uniform(0, width), dice.uniform(0, height)
            radius = short * dice.uniform(0.0012, 0.0035)
            light = dice.choice((32, 225, 225))
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=light)
        if dice.random() < 0.22:
            x, y = dice.uniform(0, width), dice.uniform(0, height)
            reach = short * 0.09
            box = (x, y, x + reach, y + reach)
            pen.arc(box, dice.uniform(0, 360), dice.uniform(60, 300), fill=215)

    def _put_tape(self, target: Planes, number: int) -> None:
        target[0].paste(ImageChops.multiply(target[0], self.lines))
        for plane in target[1:]:
            plane.paste(plane.copy(), (_SHIFT, 0))
        width, height = self.size
        band = max(4, height // 40)
        top = round((number / 24 / _BAND_SECONDS % 1.0) * (height + band)) - band
        if 0 <= top < height - band:
            strip = target[0].crop((0, top, width, top + band)).point(lambda level: level + 26)
            target[0].paste(strip, (self._dice(number).randrange(4, 14), top))

    def _dice(self, number: int) -> random.Random:
        return random.Random(f"veil/{self.seed}/{number}")  # noqa: S311  # places, not secrets
