"""The camera: a slow move over a picture, the near layer moving more than what lies behind."""

from __future__ import annotations

import random
from dataclasses import dataclass

from PIL import Image

from proxyapi.sandbox.media.motes import Motes
from proxyapi.sandbox.media.planes import Planes, planes
from proxyapi.sandbox.media.scenes import Picture

MARGIN = 1.12  # pictures are drawn this much larger than the frame
_BILINEAR = Image.Resampling.BILINEAR


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
        self.cover = picture.near
        self.half_cover = picture.near.reduce(2)
        bounds = picture.near.getbbox()
        self.near_top = bounds[1] if bounds else picture.near.height

    def frame(self, share: float) -> Planes:
        """The frame at a share from 0 to 1 of the shot."""
        eased = share * share * (3 - 2 * share) * 0.4 + share * 0.6
        if self.behind is None:
            view = self._whole(self.front, self._box(eased, 1.0))
        else:
            view = self._whole(self.behind, self._box(eased, 0.45))
            self._put_near(view, self._box(eased, 1.0))
        self.motes.put(view, share * self.seconds)
        return view

    def _box(self, share: float, depth: float) -> tuple[float, float, float, float]:
        """The visible part of the picture; far layers (small depth) move less."""
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

    def _whole(self, source: Planes, box: tuple[float, float, float, float]) -> Planes:
        width, height = self.size
        half = (width // 2, height // 2)
        small = _halved(box)
        return (
            source[0].resize(self.size, _BILINEAR, box),
            source[1].resize(half, _BILINEAR, small),
            source[2].resize(half, _BILINEAR, small),
        )

    def _put_near(self, view: Planes, box: tuple[float, float, float, float]) -> None:
        """Lay the near layer over the view, only from its first used row downwards."""
        width, height = self.size
        left, top, right, bottom = box
        scale = (bottom - top) / height
        first = min(max(int((self.near_top - top) / scale) - 2, 0), height) // 2 * 2
        if first >= height:
            return
        part = (left, top + first * scale, right, bottom)
        size, half = (width, height - first), (width // 2, (height - first) // 2)
        small = _halved(part)
        cover = self.cover.resize(size, _BILINEAR, part)
        view[0].paste(self.front[0].resize(size, _BILINEAR, part), (0, first), cover)
        cover = self.half_cover.resize(half, _BILINEAR, small)
        for plane in (1, 2):
            near = self.front[plane].resize(half, _BILINEAR, small)
            view[plane].paste(near, (0, first // 2), cover)


def _halved(box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    return box[0] / 2, box[1] / 2, box[2] / 2, box[3] / 2


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share
