"""From one picture to the next: fade, slide, wipe, zoom, or a plain cut."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from PIL import Image

from proxyapi.sandbox.media.planes import Planes

_Blend = Callable[[Image.Image, Image.Image, float], Image.Image]

SECONDS = {"cut": 0.0, "fade": 0.45, "slide": 0.45, "wipe": 0.55, "zoom": 0.4}


def between(kind: str, before: Planes, after: Planes, share: float) -> Planes:
    """The frame at a share from 0 (all before) to 1 (all after)."""
    eased = share * share * (3 - 2 * share)
    if kind == "slide":
        return _each(_slid, before, after, eased)
    if kind == "wipe":
        return _each(_wiped, before, after, eased)
    if kind == "zoom":
        return _each(_zoomed, before, after, eased)
    return _each(Image.blend, before, after, eased)


def _each(blend: _Blend, before: Planes, after: Planes, share: float) -> Planes:
    return (
        blend(before[0], after[0], share),
        blend(before[1], after[1], share),
        blend(before[2], after[2], share),
    )


def _slid(before: Image.Image, after: Image.Image, share: float) -> Image.Image:
    width = before.width
    shift = round(width * share)
    view = Image.new("L", before.size)
    view.paste(before, (-shift, 0))
    view.paste(after, (width - shift, 0))
    return view


def _wiped(before: Image.Image, after: Image.Image, share: float) -> Image.Image:
    return Image.composite(after, before, _edge(before.size, round(share * 64)))


def _zoomed(before: Image.Image, after: Image.Image, share: float) -> Image.Image:
    width, height = before.size
    inset = 0.12 * share
    box = (width * inset, height * inset, width * (1 - inset), height * (1 - inset))
    closer = before.resize(before.size, Image.Resampling.BILINEAR, box)
    return Image.blend(closer, after, share)


@functools.lru_cache(maxsize=160)
def _edge(size: tuple[int, int], step: int) -> Image.Image:
    """A soft slanted edge that has passed step/64 of the picture."""
    width, height = size
    across = np.linspace(0, 1, width, dtype=np.float32)[None, :]
    down = np.linspace(0, 0.25, height, dtype=np.float32)[:, None]
    place = (across + down) / 1.25
    cover = np.clip((step / 64 * 1.15 - place) / 0.15, 0, 1) * 255
    return Image.fromarray(cover.astype(np.uint8))
