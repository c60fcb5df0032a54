"""Pictures as the encoder wants them: BT.709 luma and half-size chroma, 16 to 235."""

from __future__ import annotations

from dataclasses import dataclass

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from PIL import Image

Planes = tuple[Image.Image, Image.Image, Image.Image]


def planes(picture: Image.Image) -> Planes:
    """Y, U and V of an RGB picture; width and height must be even."""
    width, height = picture.size
    frame = av.VideoFrame.from_ndarray(np.asarray(picture.convert("RGB")), format="rgb24")
    frame = frame.reformat(
        format="yuv420p", dst_colorspace=Colorspace.ITU709, dst_color_range=ColorRange.MPEG
    )
    packed = frame.to_ndarray()
    half = (height // 2, width // 2)
    count = half[0] * half[1]
    flat = packed[height:].reshape(-1)
    return (
        Image.fromarray(packed[:height]),
        Image.fromarray(flat[:count].reshape(half)),
        Image.fromarray(flat[count : 2 * count].reshape(half)),
    )


@dataclass(frozen=True, slots=True)
class Overlay:
    """A picture with holes, ready to be pasted into planes at an even place."""

    picture: Planes
    cover: Image.Image
    half_cover: Image.Image

    @property
    def size(self) -> tuple[int, int]:
        return self.cover.size

    def put(self, target: Planes, place: tuple[float, float], opacity: float = 1.0) -> None:
        """Paste in place; the target's planes are changed."""
        x, y = round(place[0] / 2) * 2, round(place[1] / 2) * 2
        cover, half = self.cover, self.half_cover
        if opacity < 1:
            cover, half = _weaker(cover, opacity), _weaker(half, opacity)
        target[0].paste(self.picture[0], (x, y), cover)
        target[1].paste(self.picture[1], (x // 2, y // 2), half)
        target[2].paste(self.picture[2], (x // 2, y // 2), half)


def overlay(picture: Image.Image) -> Overlay:
    """Turn an RGBA picture of even size into an overlay."""
    cover = picture.getchannel("A")
    return Overlay(planes(picture), cover, cover.reduce(2))


def _weaker(cover: Image.Image, opacity: float) -> Image.Image:
    share = max(0.0, opacity)
    return cover.point([round(level * share) for level in range(256)])
