"""Pictures that were not drawn in a genre's hand: photographic grades, pages, files."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageOps

from proxyapi.sandbox.media.palettes import Colour, mix_colours
from proxyapi.sandbox.media.planes import Planes
from proxyapi.sandbox.media.scenes import Picture
from proxyapi.sandbox.media.textures import grain, vignette

Size = tuple[int, int]

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_MOST_PIXELS = 40_000_000
_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)
_CURVE = [round(np.interp(n, [0, 40, 128, 215, 255], [12, 36, 132, 222, 246])) for n in range(256)]
_COOL, _WARM = np.array([-10, 2, 16], np.float32), np.array([16, 5, -14], np.float32)


def grade_as_photo(picture: Image.Image) -> Image.Image:
    """As a camera would have seen it: soft, cool in the shadows, warm in the lights."""
    soft = ImageEnhance.Color(picture.filter(ImageFilter.BoxBlur(min(picture.size) / 700)))
    colours = np.asarray(soft.enhance(0.74).point(_CURVE * 3), np.float32)
    light = (colours @ _LUMA)[..., None] / np.float32(255)
    corners = 0.7 + 0.3 * vignette(*picture.size)[..., None]
    noisy = (colours + _COOL + (_WARM - _COOL) * light) * corners
    noisy += grain(*picture.size)[..., None] * np.float32(2.6)
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def letterbox(view: Planes, bar: int) -> None:
    """Black above and below; `bar` is the height of each, in pixels, and even."""
    for plane, black, shrunk in zip(view, (16, 128, 128), (1, 2, 2), strict=True):
        width, height = plane.size
        plane.paste(black, (0, 0, width, bar // shrunk))
        plane.paste(black, (0, height - bar // shrunk, width, height))


def open_picture(path: Path) -> Image.Image | None:
    """A picture from outside, or the first frame of a film; None if it cannot be read."""
    try:
        if path.suffix == ".mp4":
            with av.open(str(path)) as film:
                return Image.fromarray(next(film.decode(video=0)).to_ndarray(format="rgb24"))
        with Image.open(path, formats=_FORMATS) as found:
            if found.width * found.height > _MOST_PIXELS:
                return None
            return ImageOps.exif_transpose(found).convert("RGB")
    except (OSError, ValueError, SyntaxError, StopIteration, Image.DecompressionBombError):
        return None  # av's errors are OSErrors or ValueErrors, too


def crop_to_cover(picture: Image.Image, size: Size) -> Picture:
    """The picture filling the frame, its edges cut as little as can be."""
    filled = ImageOps.fit(picture, size, Image.Resampling.LANCZOS)
    return Picture(filled, filled, Image.new("L", size), "dust")


def place_on_card(picture: Image.Image, size: Size, colour: Colour) -> Picture:
    """The picture with a white rim, lying on the page's colour and a blur of itself."""
    width, height = size
    ground = ImageOps.fit(picture, size).filter(ImageFilter.GaussianBlur(min(size) / 14))
    ground = Image.blend(
        ground, Image.new("RGB", size, mix_colours(colour, (12, 14, 20), 0.25)), 0.62
    )
    upright = height > width
    room = (round(width * (0.76 if upright else 0.72)), round(height * (0.5 if upright else 0.58)))
    shown = ImageOps.contain(picture, room, Image.Resampling.LANCZOS)
    rim = max(3, min(size) // 90)
    left, top = (width - shown.width) // 2, round(height * 0.42 - shown.height / 2)
    edge = (left - rim, top - rim, left + shown.width + rim, top + shown.height + rim)
    shade = Image.new("L", size)
    ImageDraw.Draw(shade).rectangle([edge[0], edge[1] + rim * 2, edge[2], edge[3] + rim * 3], 150)
    ground.paste((0, 0, 0), (0, 0), shade.filter(ImageFilter.GaussianBlur(rim * 2.5)))
    front, near = ground.copy(), Image.new("L", size)
    ImageDraw.Draw(front).rectangle(edge, (250, 249, 246))
    ImageDraw.Draw(near).rectangle(edge, 255)
    front.paste(shown, (left, top))
    return Picture(front, ground, near, "")
