"""The camera: a slow move over a picture, the near layer moving more than what lies behind."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass

import numpy as np
from PIL import Image

from proxyapi.sandbox.media.encode import FRAME_RATE
from proxyapi.sandbox.media.motes import Motes
from proxyapi.sandbox.media.planes import Planes, planes
from proxyapi.sandbox.media.scenes import Picture

MARGIN = 1.12  # pictures are drawn this much larger than the frame
_HELD = 3  # frames for which colour and distance stand still

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Move:
    """Scale and centre (shares of the free margin, -1 to 1) at the start and at the end."""

    scale: tuple[float, float]
    across: tuple[float, float]
    down: tuple[float, float]


_MOVES = (
    Move((1.11, 1.03), (0.0, 0.2), (0.0, 0.2)),
    Move((1.03, 1.11), (-0.2, 0.0), (0.2, 0.0)),
    Move((1.05, 1.05), (-0.8, 0.8), (0.0, 0.0)),
    Move((1.05, 1.05), (0.8, -0.8), (0.1, 0.0)),
    Move((1.07, 1.03), (-0.6, 0.5), (0.3, -0.2)),
    Move((1.06, 1.06), (0.2, -0.2), (0.7, -0.6)),
)


class Shot:
    """One picture in motion; `frame` answers for any share of the shot, in any order."""

    def __init__(self, picture: Picture, size: tuple[int, int], seed: int, seconds: float) -> None:
        self.size = size
        dice = random.Random(f"camera/{seed}")  # noqa: S311  # a choice of view, not a secret
        self.move = dice.choice(_MOVES)
        self.seconds = seconds
        self.motes = Motes(picture.motes, size, seed)
        self.front = planes(picture.image)
        self.behind = planes(picture.behind) if picture.behind is not None else None
        self.cover = picture.near.point([0] * 8 + list(range(8, 256)))
        self.half_cover = self.cover.reduce(2)
        self.parts = _parts(self.cover)
        self._lock = threading.Lock()
        self._kept: dict[int, Planes] = {}

    def frame(self, share: float) -> Planes:
        """The frame at a share from 0 to 1 of the shot."""
        step = int(share * self.seconds * FRAME_RATE) // _HELD
        luma, *chroma = self._held(step)
        view: Planes = (luma.copy(), chroma[0].copy(), chroma[1].copy())
        if self.behind is None:
            view[0].paste(self._moved(self.front[0], self._box(share, 1.0), self.size), (0, 0))
        else:
            self._put_near(view[0], self.front[0], self.cover, self._box(share, 1.0))
        self.motes.put(view, share * self.seconds)
        return view

    def _held(self, step: int) -> Planes:
        """Colours and distance move by fractions of a pixel, so they wait a few frames."""
        with self._lock:
            if step not in self._kept:
                self._kept = {n: kept for n, kept in self._kept.items() if n > step - 2}
                self._kept[step] = self._still(step * _HELD / FRAME_RATE / self.seconds)
            return self._kept[step]

    def _still(self, share: float) -> Planes:
        source = self.behind or self.front
        far, near = self._box(share, 0.45 if self.behind else 1.0), _halved(self._box(share, 1.0))
        half = (self.size[0] // 2, self.size[1] // 2)
        luma = self._moved(source[0], far, self.size)
        blue = self._moved(source[1], _halved(far), half)
        red = self._moved(source[2], _halved(far), half)
        if self.behind is not None:
            self._put_near(blue, self.front[1], self.half_cover, near)
            self._put_near(red, self.front[2], self.half_cover, near)
        return luma, blue, red

    def _box(self, share: float, depth: float) -> Box:
        """The visible part of the picture; far layers (small depth) move less."""
        share = share * share * (3 - 2 * share) * 0.4 + share * 0.6
        width, height = self.size
        full_w, full_h = self.cover.size
        move = self.move
        middle = 1.06
        scale = _between(move.scale, share)
        scale = middle + (scale - middle) * depth
        free_x, free_y = (full_w - width * scale) / 2, (full_h - height * scale) / 2
        x = free_x * (1 + _between(move.across, share) * depth)
        y = free_y * (1 + _between(move.down, share) * depth)
        return x, y, x + width * scale, y + height * scale

    @staticmethod
    def _moved(source: Image.Image, box: Box, size: tuple[int, int]) -> Image.Image:
        return source.resize(size, Image.Resampling.BILINEAR, box)

    def _put_near(
        self, view: Image.Image, front: Image.Image, cover: Image.Image, box: Box
    ) -> None:
        """Lay the near layer over one plane, only where there is some of it."""
        width, height = view.size
        scale = (box[2] - box[0]) / width
        shrunk = cover.height / self.cover.height
        for part in self.parts:
            left, right = (_pixel(edge * shrunk, box[0], scale, width) for edge in part[::2])
            top, bottom = (_pixel(edge * shrunk, box[1], scale, height) for edge in part[1::2])
            if left >= right or top >= bottom:
                continue
            x, y = box[0] + left * scale, box[1] + top * scale
            source = (x, y, x + (right - left) * scale, y + (bottom - top) * scale)
            size = (right - left, bottom - top)
            shape = self._moved(cover, source, size)
            view.paste(self._moved(front, source, size), (left, top), shape)


def _pixel(edge: float, start: float, scale: float, limit: int) -> int:
    return min(max(round((edge - start) / scale), 0), limit)


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


def _halved(box: Box) -> Box:
    return box[0] / 2, box[1] / 2, box[2] / 2, box[3] / 2


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share
