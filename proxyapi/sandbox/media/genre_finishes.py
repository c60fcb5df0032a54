"""The hand of each genre: what is done to a drawn picture before the camera sees it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image, ImageFilter

from proxyapi.sandbox.media.textures import Field, clouds, grain, paper, vignette

_WANDERING = {"watercolor": 1 / 110, "storybook": 1 / 260}  # shares of the height
_LUMA = np.array([0.2126, 0.7152, 0.0722], np.float32)


def apply_genre_finish(picture: Image.Image, genre: str, seed: int) -> Image.Image:
    """The picture in the manner of a genre; the same seed gives the same picture."""
    return _HANDS.get(genre, _cinematic)(picture, seed)


def finish_outline(cover: Image.Image, genre: str, seed: int) -> Image.Image:
    """The near layer's shape, moved as `apply_genre_finish` moves the picture."""
    if genre in _WANDERING:
        return _wandered(cover, seed % 3, cover.height * _WANDERING[genre])
    if genre == "pixel-art":
        return _coarse(cover, _cell(cover))
    return cover


def _cinematic(picture: Image.Image, seed: int) -> Image.Image:
    return _out(_lit(picture, 0.26) + _noise(picture, 1.3))


def _watercolor(picture: Image.Image, seed: int) -> Image.Image:
    """Edges wander, pigment gathers at them and in the hollows of the paper, rims stay white."""
    width, height = picture.size
    flowing = _wandered(picture, seed % 3, height * _WANDERING["watercolor"])
    wet = np.asarray(flowing, np.float32)
    soft = np.asarray(flowing.filter(ImageFilter.BoxBlur(picture.height / 130)), np.float32)
    pigment = wet + (wet - soft) * 0.9
    pools = clouds(width, height, 3 + seed % 3, 6, 4)[..., None] - 0.5
    pigment = 255 - (255 - pigment) * (0.86 + pools * 0.55)
    sheet = np.array([253, 250, 242], np.float32)
    rim = _rim(width, height, seed % 3)[..., None]
    painted = sheet + (pigment - sheet) * rim
    return _out(painted + paper(width, height)[..., None] * 3.2)


def _anime(picture: Image.Image, seed: int) -> Image.Image:
    """Clear colours, light that blooms, a touch of ink on the contours."""
    colours = np.asarray(picture, np.float32)
    grey = colours @ _LUMA
    vivid = grey[..., None] + (colours - grey[..., None]) * 1.18
    small = picture.reduce(4).filter(ImageFilter.BoxBlur(6))
    bloom = np.asarray(small.resize(picture.size, Image.Resampling.BILINEAR), np.float32)
    lifted = vivid + np.clip(bloom - 150, 0, None) * 0.32
    return _out(lifted - _contours(grey, 26)[..., None] * 46)


def _noir(picture: Image.Image, seed: int) -> Image.Image:
    """Black and white with one red left, hard light, heavy corners, coarse grain."""
    colours = np.asarray(picture, np.float32)
    grey = colours @ _LUMA
    curve = np.interp(grey, [0, 50, 128, 205, 255], [4, 30, 122, 222, 250])
    red = np.clip((colours[..., 0] - colours[..., 1] - 60) / 50, 0, 1)[..., None]
    width, height = picture.size
    dark = (0.35 + 0.65 * vignette(width, height))[..., None]
    tone = np.stack([curve * 1.01, curve, curve * 0.975], axis=-1)
    return _out((tone + (colours - tone) * red) * dark + _noise(picture, 3.5))


def _paper_cut(picture: Image.Image, seed: int) -> Image.Image:
    width, height = picture.size
    fibre = paper(width, height, 17)[..., None]
    return _out(_lit(picture, 0.14) * (1 + fibre * 0.022) + fibre * 2.2)


def _pixel_art(picture: Image.Image, seed: int) -> Image.Image:
    """Big square pixels and few colours, dithered in a chequered order."""
    side = _cell(picture)
    size = (-(-picture.width // side), -(-picture.height // side))
    small = np.asarray(picture.resize(size, Image.Resampling.BOX), np.float32)
    pattern = np.tile(_BAYER, (size[1] // 4 + 1, size[0] // 4 + 1))[: size[1], : size[0], None]
    step = 22.0
    flat = np.round((small + (pattern - 0.5) * step * 0.5) / step) * step
    return _enlarged(Image.fromarray(flat.clip(0, 255).astype(np.uint8)), side, picture.size)


def _cell(picture: Image.Image) -> int:
    return max(2, round(min(picture.size) / 130))


def _coarse(cover: Image.Image, side: int) -> Image.Image:
    size = (-(-cover.width // side), -(-cover.height // side))
    small = cover.resize(size, Image.Resampling.BOX).point([0] * 110 + [255] * 146)
    return _enlarged(small, side, cover.size)


def _enlarged(small: Image.Image, side: int, size: tuple[int, int]) -> Image.Image:
    large = small.resize((small.width * side, small.height * side), Image.Resampling.NEAREST)
    return large.crop((0, 0, *size))


def _nature(picture: Image.Image, seed: int) -> Image.Image:
    """Warm light from one side, a soft foreground, fine grain."""
    width, height = picture.size
    colours = _lit(picture, 0.2)
    soft = np.asarray(picture.filter(ImageFilter.BoxBlur(height / 160)), np.float32)
    near = np.clip((np.linspace(0, 1, height, dtype=np.float32) - 0.88) / 0.1, 0, 1)
    mixed = colours + (soft - colours) * near[:, None, None]
    slant = np.linspace(0.08, -0.04, width, dtype=np.float32)[None, :, None]
    warm = mixed * (1 + slant * np.array([1.0, 0.75, 0.3], np.float32))
    return _out(warm + _noise(picture, 1.5))


def _synthwave(picture: Image.Image, seed: int) -> Image.Image:
    """Bloom, a little colour fringe, scan lines."""
    small = picture.reduce(4).filter(ImageFilter.BoxBlur(5))
    bloom = np.asarray(small.resize(picture.size, Image.Resampling.BILINEAR), np.float32)
    colours = np.asarray(picture, np.float32).copy()
    shift = max(1, picture.height // 400)
    colours[..., 0] = np.roll(colours[..., 0], shift, axis=1)
    colours[..., 2] = np.roll(colours[..., 2], -shift, axis=1)
    lines = 1 - 0.07 * (np.arange(picture.height) // max(2, picture.height // 270) % 2)
    return _out((colours + bloom * 0.26) * lines[:, None, None].astype(np.float32))


def _storybook(picture: Image.Image, seed: int) -> Image.Image:
    """Gouache: slightly uneven edges, brown contours, specks, warm paper."""
    width, height = picture.size
    moved = np.asarray(_wandered(picture, seed % 3, height * _WANDERING["storybook"]), np.float32)
    lines = _contours(moved @ _LUMA, 20)[..., None]
    brown = np.array([62, 44, 34], np.float32)
    drawn = moved + (brown - moved) * lines * 0.5
    warm = drawn * np.array([1.02, 0.995, 0.93], np.float32) + np.array([4, 3, 0], np.float32)
    specks = np.clip(grain(width, height) - 1.9, 0, 1)[..., None] * 20
    brushed = (clouds(width, height, 9, 30, 2)[..., None] - 0.5) * 16
    return _out(warm + specks + brushed + paper(width, height)[..., None] * 2.0)


def _blueprint(picture: Image.Image, seed: int) -> Image.Image:
    """White lines and a grid on blue paper, the tones only hinted at."""
    width, height = picture.size
    grey = np.asarray(picture, np.float32) @ _LUMA
    blue = np.array([18, 62, 122], np.float32)
    ground = blue + (grey[..., None] - 110) * np.array([0.2, 0.27, 0.32], np.float32)
    cell = max(8, min(width, height) // 24)
    ruled = np.zeros((height, width), np.float32)
    for step, strength in ((cell, 0.10), (cell * 4, 0.14)):
        ruled[::step, :] += strength
        ruled[:, ::step] += strength
    lines = np.clip(_contours(grey, 9) * 0.95 + ruled, 0, 1)[..., None]
    drawn = ground + (np.array([232, 243, 255], np.float32) - ground) * lines
    colours = np.asarray(picture, np.float32)
    warm = np.clip((colours[..., 0] - colours[..., 2] - 70) / 60, 0, 1)[..., None] * 0.75
    return _out(
        drawn + (colours - drawn) * warm + clouds(width, height, 5, 3, 3)[..., None] * 12 - 6
    )


_BAYER = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]], np.float32) / 16
_HANDS: dict[str, Callable[[Image.Image, int], Image.Image]] = {
    "cinematic": _cinematic,
    "watercolor": _watercolor,
    "anime": _anime,
    "noir": _noir,
    "paper-cut": _paper_cut,
    "pixel-art": _pixel_art,
    "nature-documentary": _nature,
    "synthwave": _synthwave,
    "storybook": _storybook,
    "blueprint": _blueprint,
}


def _out(colours: Field) -> Image.Image:
    return Image.fromarray(colours.clip(0, 255).astype(np.uint8))


def _lit(picture: Image.Image, corners: float) -> Field:
    """The colours with darker corners."""
    shade = 1 - corners * (1 - vignette(*picture.size))
    return np.asarray(picture, np.float32) * shade[..., None]


def _noise(picture: Image.Image, strength: float) -> Field:
    return grain(*picture.size)[..., None] * np.float32(strength)


def _contours(grey: Field, threshold: float) -> Field:
    """0 on plain ground, up to 1 where the tone changes abruptly."""
    across = np.abs(grey - np.roll(grey, 1, axis=1))
    down = np.abs(grey - np.roll(grey, 1, axis=0))
    edge = np.maximum(across, down)
    edge[0], edge[:, 0] = 0, 0
    wide = np.maximum(edge, np.roll(edge, -1, axis=1))
    wide = np.maximum(wide, np.roll(wide, -1, axis=0))
    return np.asarray(((wide - threshold * 0.4) / threshold).clip(0, 1), np.float32)


def _wandered(picture: Image.Image, seed: int, reach: float) -> Image.Image:
    """Every pixel comes from a little way off, neighbours from about the same way."""
    width, height = picture.size
    across = (clouds(width, height, 21 + seed, 14, 3) - 0.5) * 2 * reach
    down = (clouds(width, height, 31 + seed, 14, 3) - 0.5) * 2 * reach
    rows = (np.arange(height, dtype=np.float32)[:, None] + down).clip(0, height - 1)
    columns = (np.arange(width, dtype=np.float32)[None, :] + across).clip(0, width - 1)
    return Image.fromarray(np.asarray(picture)[rows.astype(np.int32), columns.astype(np.int32)])


def _rim(width: int, height: int, seed: int) -> Field:
    """1 inside, falling raggedly to 0 near the edge of the sheet."""
    short = min(width, height)
    down = np.minimum(np.arange(height), np.arange(height)[::-1]).astype(np.float32)
    across = np.minimum(np.arange(width), np.arange(width)[::-1]).astype(np.float32)
    away = np.minimum(down[:, None], across[None, :]) / short
    ragged = away + (clouds(width, height, 41 + seed, 8, 4) - 0.5) * 0.09
    return np.clip((ragged - 0.045) / 0.03, 0, 1).astype(np.float32)
