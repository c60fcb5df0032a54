"""Single pictures: what an asset shows before, and without, a film.

`make_described` takes `text, genre, seed, aspect_ratio, photographic` and needs the media
extra; `write_plain` writes a small PNG by the standard library alone.
"""

from __future__ import annotations

import random
import struct
import zlib
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media.film import frame_size
from proxyapi.sandbox.media.films import write_atomically

_PLAIN_SIDE, _SIDE = 90, 720  # pixels of the shorter side


def make_described(wanted: dict[str, Any], path: Path) -> None:
    """Write the picture as JPEG, at once or not at all."""
    drawn = picture(wanted, frame_size(wanted.get("aspect_ratio", "16:9"), _SIDE))
    with write_atomically(path) as partial:
        drawn.save(partial, "JPEG", quality=88)


def picture(wanted: dict[str, Any], size: tuple[int, int]) -> Any:
    """The picture at a size, as a PIL image."""
    from proxyapi.sandbox.media import photo_effects, scenes

    text, genre = wanted.get("text", ""), wanted.get("genre", "cinematic")
    drawn = scenes.draw_scene(text, genre, wanted.get("seed", 0), size).image
    return photo_effects.grade_as_photo(drawn) if wanted.get("photographic") else drawn


def write_plain(wanted: dict[str, Any], path: Path) -> None:
    """A sky that fades into a hill, as PNG."""
    width, height = frame_size(wanted.get("aspect_ratio", "16:9"), _PLAIN_SIDE)
    dice = random.Random(f"plain/{wanted.get('seed', 0)}")  # noqa: S311  # a picture
    top, low = ([dice.randrange(30, 220) for _ in range(3)] for _ in range(2))
    rows = bytearray()
    for row in range(height):
        share = row / height
        pixel = bytes(round(a + (b - a) * share) for a, b in zip(top, low, strict=True))
        rows += b"\0" + pixel * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [_chunk(b"IHDR", head), _chunk(b"IDAT", zlib.compress(bytes(rows)))]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts) + _chunk(b"IEND", b""))


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))
