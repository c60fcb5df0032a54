"""The camera: a slow zoom into the distance, and the near layer gliding past it.

Zooming means resampling, so what lies behind is redrawn every few frames only: it moves by
fractions of a pixel. The near layer keeps its size, which makes gliding cheap enough to be
smooth in every frame.
"""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass

import numpy as np
from PIL import Image

from proxyapi.sandbox.media.encode import FRAME_RATE
from proxyapi.sandbox.media.particles import Particles
from proxyapi.sandbox.media.planes import Planes, planes
from proxyapi.sandbox.media.scenes import Picture

MARGIN = 1.12  # pictures are drawn this much larger than the frame
_NEAR_SCALE = 1.06  # and this much larger than the near layer is shown
_HELD = 3  # frames for which colour and distance stand still

Box = tuple[float, float, float, float]
Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Move:
    """Scale of the distance at start and end; how the near layer glides, from -1 to 1."""

    scale: tuple[float, float]
    across: tuple[float, float] = (0.0, 0.0)
    down: tuple[float, float] = (0.0, 0.0)


_MOVES = (
    Move((1.10, 1.04), across=(-0.85, 0.85)),
    Move((1.10, 1.04), across=(0.85, -0.85)),
    Move((1.03, 1.09), across=(-0.8, 0.6)),
    Move((1.03, 1.09), across=(0.8, -0.6)),
    Move((1.11, 1.03), down=(0.9, -0.7)),
    Move((1.04, 1.10), down=(-0.7, 0.8)),
)

# What a film may ask for instead; every other word leaves each shot its own move.
_ASKED = {
    "ken-burns": (Move((1.02, 1.11), across=(-0.3, 0.3)), Move((1.11, 1.02), across=(0.3, -0.3))),
    "pan": (Move((1.08, 1.08), across=(-1, 1)), Move((1.08, 1.08), across=(1, -1))),
    "drift": (Move((1.06, 1.07), across=(-0.3, 0.3)), Move((1.06, 1.07), down=(0.4, -0.4))),
    "still": (Move((1.06, 1.06)),),
}


class Shot:
    """One picture in motion; `frame` answers for any share of the shot, in any order."""

    def __init__(
        self,
        picture: Picture,
        size: tuple[int, int],
        seed: int,
        seconds: float,
        animation: str = "",
    ) -> None:
        self.size, self.seconds = size, seconds
        dice = random.Random(f"camera/{seed}")  # noqa: S311  # a choice of view, not a secret
        self.move = dice.choice(_ASKED.get(animation, _MOVES))
        self.motes = Particles(picture.motes, size, seed)
        self.behind = planes(picture.behind)
        small = tuple(round(side / _NEAR_SCALE / 2) * 2 for side in picture.image.size)
        shown = (small[0], small[1])
        faint = [0] * 8 + list(range(8, 256))
        self.near = planes(picture.image.resize(shown, Image.Resampling.BILINEAR))
        self.cover = picture.near.resize(shown, Image.Resampling.BILINEAR).point(faint)
        self.half_cover = self.cover.reduce(2)
        self.parts = _parts(self.cover)
        self._lock = threading.Lock()
        self._kept: dict[int, Planes] = {}

    def frame(self, share: float) -> Planes:
        """The frame at a share from 0 to 1 of the shot."""
        step = int(share * self.seconds * FRAME_RATE) // _HELD
        luma, *chroma = self._held(step)
        view: Planes = (luma.copy(), chroma[0].copy(), chroma[1].copy())
        self._put_near(view[0], self.near[0], self.cover, self._place(share))
        self.motes.put(view, share * self.seconds)
        return view

    def _held(self, step: int) -> Planes:
        with self._lock:
            if step not in self._kept:
                self._kept = {n: kept for n, kept in self._kept.items() if n > step - 2}
                share = step * _HELD / FRAME_RATE / self.seconds
                self._kept[step] = self._distance(_eased(share), self._place(share))
            return self._kept[step]

    def _distance(self, share: float, place: Place) -> Planes:
        """All planes of what lies behind, with the colours of the near layer laid over."""
        scale = _between(self.move.scale, share)
        width, height = self.behind[0].size
        left, top = (
            (full - side * scale) / 2 for full, side in zip((width, height), self.size, strict=True)
        )
        box = (left, top, left + self.size[0] * scale, top + self.size[1] * scale)
        half_box = (box[0] / 2, box[1] / 2, box[2] / 2, box[3] / 2)
        half = (self.size[0] // 2, self.size[1] // 2)
        luma = self.behind[0].resize(self.size, Image.Resampling.BILINEAR, box)
        blue, red = (
            plane.resize(half, Image.Resampling.BILINEAR, half_box) for plane in self.behind[1:]
        )
        half_place = (place[0] / 2, place[1] / 2)
        self._put_near(blue, self.near[1], self.half_cover, half_place)
        self._put_near(red, self.near[2], self.half_cover, half_place)
        return luma, blue, red

    def _place(self, share: float) -> Place:
        """The upper left corner of the frame in the near layer."""
        free_x, free_y = (
            (full - side) / 2 for full, side in zip(self.cover.size, self.size, strict=True)
        )
        eased = _eased(share)
        x = free_x * (1 + _between(self.move.across, eased))
        y = free_y * (1 + _between(self.move.down, eased))
        return (x, float(round(y))) if self.move.across != (0.0, 0.0) else (float(round(x)), y)

    def _put_near(
        self, view: Image.Image, front: Image.Image, cover: Image.Image, place: Place
    ) -> None:
        """Lay the near layer over one plane, only where there is some of it."""
        width, height = view.size
        shrunk = cover.height / self.cover.height
        for part in self.parts:
            left, right = (_pixel(edge * shrunk - place[0], width) for edge in part[::2])
            top, bottom = (_pixel(edge * shrunk - place[1], height) for edge in part[1::2])
            if left < right and top < bottom:
                corner = (place[0] + left, place[1] + top)
                size = (right - left, bottom - top)
                shape = _cut(cover, corner, size)
                view.paste(_cut(front, corner, size), (left, top), shape)


def _cut(plane: Image.Image, corner: Place, size: tuple[int, int]) -> Image.Image:
    """A part of a plane from a place between pixels, as long as that is so in one direction."""
    x, y = int(corner[0]), int(corner[1])
    over_x, over_y = corner[0] - x, corner[1] - y
    first = plane.crop((x, y, x + size[0], y + size[1]))
    if over_x < 0.01 and over_y < 0.01:
        return first
    right, down = (1, 0) if over_x >= over_y else (0, 1)
    second = plane.crop((x + right, y + down, x + right + size[0], y + down + size[1]))
    return Image.blend(first, second, max(over_x, over_y))


def _pixel(edge: float, limit: int) -> int:
    return min(max(round(edge), 0), limit)


def _eased(share: float) -> float:
    return share * share * (3 - 2 * share) * 0.4 + share * 0.6


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share


def _parts(cover: Image.Image) -> list[tuple[int, int, int, int]]:
    """The ground, which is as wide as the picture, and the box of what rises above it."""
    rows = np.count_nonzero(np.asarray(cover), axis=1)
    narrow = np.flatnonzero(rows < cover.width * 0.7)
    ground = int(narrow[-1]) + 1 if len(narrow) else 0
    above = cover.crop((0, 0, cover.width, ground)).getbbox() if ground else None
    parts = [(0, ground, cover.width, cover.height)]
    if above:
        parts.append((above[0] - 2, above[1] - 2, above[2] + 2, ground))
    return parts
