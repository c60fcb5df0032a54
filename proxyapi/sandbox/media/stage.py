"""What every motif draws on: a canvas, the colours of the hour, and the scene's dice."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proxyapi.sandbox.media.brush import Brush
from proxyapi.sandbox.media.canvas import Canvas
from proxyapi.sandbox.media.palettes import Colour, Hour, Palette, mix_colours


class Spot(NamedTuple):
    """Where a subject stands: centre of its foot and its height, in pixels."""

    x: float
    y: float
    size: float


@dataclass(slots=True)
class Stage:
    canvas: Canvas
    colours: Palette
    hour: Hour
    genre: str
    dice: random.Random
    horizon: float = 0.62  # share of the height
    sun_at: float = 0.5  # share of the width

    @property
    def width(self) -> int:
        return self.canvas.width

    @property
    def height(self) -> int:
        return self.canvas.height

    @property
    def short(self) -> int:
        return self.canvas.short

    @property
    def dark(self) -> bool:
        return self.hour == "night"

    def depth(self, share: float) -> Colour:
        """The colour of land: 0 is at the horizon, 1 before our feet."""
        hazy = mix_colours(self.colours.horizon, self.colours.far, 0.75)
        if share < 0.5:
            return mix_colours(hazy, self.colours.far, share * 2)
        return mix_colours(self.colours.far, self.colours.near, share * 2 - 1)

    def light(self) -> Colour:
        """Lamps and windows."""
        return mix_colours(self.colours.second, (255, 244, 214), 0.45)

    def brush(self, x: float, y: float, size: float, facing: int | None = None) -> Brush:
        """A brush for a subject; it looks towards the middle unless told otherwise."""
        inwards = 1 if x < self.width * 0.5 else -1
        return Brush(self.canvas, x, y, size, facing or inwards)

    def spot(self, y: float, size: float, *, spread: float = 0.16) -> Spot:
        """A place near a third of the width, on the side away from the sun."""
        side = 0.36 if self.sun_at > 0.5 else 0.64
        if self.width < self.height:
            side = 0.5
        share = side + self.dice.uniform(-spread, spread) * 0.5
        return Spot(share * self.width, y * self.height, size * self.short)

    def rolling(self, base: float, swing: float, lumps: float) -> NDArray[np.float32]:
        """A soft line of heights per column; `base` and `swing` are shares of the height."""
        across = np.linspace(0, self.width / self.short, self.width, dtype=np.float32)
        line = np.zeros_like(across)
        for octave in range(3):
            turn = self.dice.uniform(0, 6.28)
            pace = lumps * 1.9**octave * self.dice.uniform(0.8, 1.2)
            line += np.sin(across * pace * 3.14 + turn) / 2.3**octave
        return (base * self.height - line * swing * self.short * 0.5).astype(np.float32)

    def jagged(self, base: float, swing: float, peaks: float) -> NDArray[np.float32]:
        """A mountain line: big triangles broken up by smaller ones."""
        line = np.zeros(self.width, np.float32)
        columns = np.arange(self.width)
        for octave in range(5):
            count = max(3, round(peaks * 2**octave * self.width / self.short) + 2)
            heights = [self.dice.random() for _ in range(count)]
            if octave == 0:
                heights = [h * 0.35 + 0.65 * (n % 2) for n, h in enumerate(heights)]
            places = np.linspace(0, self.width, count)
            places[1:-1] += self.dice.uniform(-0.25, 0.25) * self.width / count
            line += np.interp(columns, places, heights).astype(np.float32) / 2.4**octave
        line = (line - line.min()) / max(float(line.max() - line.min()), 1e-6)
        return np.asarray(base * self.height - line * swing * self.short, np.float32)
