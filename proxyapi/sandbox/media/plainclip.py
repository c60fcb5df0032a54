"""A playable film by the standard library alone, for machines without the media extra.

H.264 (constrained baseline) whose pictures are uncompressed macroblocks, followed by frames
that repeat them: no encoder is needed, every player takes it. It has no sound.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from proxyapi.sandbox.media.film import Film, frame_size

_RATE = 5  # frames/s
_WORDS_PER_SECOND = 2.6
_SCENE_SECONDS = 6
_SHORT_SIDE = 96  # pixels; an uncompressed picture of this size is some 25 kB
_SUN = (225, 110, 138)  # Y, U, V
_LOOKS = {  # two ends of a sky and a hill, as Y, U, V
    "cinematic": ((60, 150, 120), (200, 100, 150), (40, 140, 120)),
    "noir": ((50, 128, 128), (200, 128, 128), (25, 128, 128)),
    "watercolor": ((170, 140, 118), (230, 118, 136), (120, 122, 116)),
    "synthwave": ((45, 170, 150), (150, 120, 190), (30, 160, 140)),
}


def write_plain_film(film: Film, path: Path) -> float:
    """Write a silent film of about the length of its narration; returns seconds."""
    spoken = len(film.script.split()) / _WORDS_PER_SECOND
    count = max(3 * _RATE, round((film.seconds or spoken) * _RATE))
    width, height = (
        max(16, side // 16 * 16) for side in frame_size(film.aspect_ratio, _SHORT_SIDE)
    )
    samples = list(_samples(film, count, width, height))
    path.write_bytes(_file(samples, width, height))
    return count / _RATE


def _samples(film: Film, count: int, width: int, height: int) -> Iterator[bytes]:
    blocks = (width // 16) * (height // 16)
    for number in range(count):
        place = number % (_SCENE_SECONDS * _RATE)
        if place == 0:
            scene = number // (_SCENE_SECONDS * _RATE)
            slice_ = _picture(film, scene, width, height)
        else:
            slice_ = _repeat(blocks, place)
        yield struct.pack(">I", len(slice_)) + slice_


class _Bits:
    """Bits written from the left, with the variable-length numbers of H.264."""

    def __init__(self) -> None:
        self.bits: list[str] = []

    def fixed(self, value: int, width: int) -> _Bits:
        self.bits.append(format(value, f"0{width}b"))
        return self

    def ue(self, *values: int) -> _Bits:
        for value in values:
            digits = format(value + 1, "b")
            self.bits.append("0" * (len(digits) - 1) + digits)
        return self

    def aligned(self) -> bytes:
        """All bits so far, filled up with zeros to whole bytes."""
        text = "".join(self.bits)
        text += "0" * (-len(text) % 8)
        return int("1" + text, 2).to_bytes(len(text) // 8 + 1, "big")[1:]

    def closed(self) -> bytes:
        """All bits so far with the stop bit that ends every unit."""
        return self.fixed(1, 1).aligned()


def _unit(kind: int, payload: bytes) -> bytes:
    """A NAL unit; a start code must not appear inside, so a 3 keeps zeros apart."""
    return bytes([kind]) + re.sub(rb"\x00\x00(?=[\x00-\x03])", b"\x00\x00\x03", payload)


def _sequence(width: int, height: int) -> bytes:
    bits = _Bits().fixed(66, 8).fixed(0xC0, 8).fixed(30, 8)  # constrained baseline, level 3
    bits.ue(0, 4, 2, 1).fixed(0, 1)  # id, 8-bit frame numbers, output in order, one reference
    bits.ue(width // 16 - 1, height // 16 - 1).fixed(0b11000, 5)
    return _unit(0x67, bits.closed())


def _parameters() -> bytes:
    bits = _Bits().ue(0, 0).fixed(0, 2).ue(0, 0, 0).fixed(0, 3).ue(0, 0, 0).fixed(0b100, 3)
    return _unit(0x68, bits.closed())


def _picture(film: Film, scene: int, width: int, height: int) -> bytes:
    """A whole picture: every macroblock is sent as its 384 plain samples."""
    head = _Bits().ue(0, 7, 0).fixed(0, 8).ue(scene % 2).fixed(0, 2).ue(0).ue(1)
    body = bytearray()
    paint = _painter(film, scene, width, height)
    for top in range(0, height, 16):
        for left in range(0, width, 16):
            head.ue(25)  # I_PCM
            body += head.aligned() + paint(left, top)
            head = _Bits()
    return _unit(0x65, bytes(body) + head.closed())


def _repeat(blocks: int, number: int) -> bytes:
    """A frame in which every macroblock is skipped, that is, like the one before."""
    bits = _Bits().ue(0, 5, 0).fixed(number % 256, 8).fixed(0, 1).fixed(0, 1).fixed(0, 1)
    return _unit(0x41, bits.ue(0, 1, blocks).closed())


class _painter:
    """A sky, a sun and a hill, row by row."""

    def __init__(self, film: Film, scene: int, width: int, height: int) -> None:
        dice = random.Random(f"{film.genre}/{film.seed}/{scene}")  # noqa: S311  # a picture
        self.top, self.low, self.hill = _LOOKS.get(film.genre, _LOOKS["cinematic"])
        self.width, self.height = width, height
        self.sun = (dice.uniform(0.2, 0.8) * width, dice.uniform(0.3, 0.5) * height)
        self.radius = height * dice.uniform(0.1, 0.16)
        self.peak = dice.uniform(0.25, 0.75) * width
        self.rows = [self._row(y) for y in range(height)]

    def __call__(self, left: int, top: int) -> bytes:
        rows, side = self.rows[top : top + 16], slice(left, left + 16)
        whole = [luma[side] for luma, _, _ in rows]
        blue = [plane[side][::2] for _, plane, _ in rows[::2]]
        red = [plane[side][::2] for _, _, plane in rows[::2]]
        return b"".join((*whole, *blue, *red))

    def _row(self, y: int) -> list[bytearray]:
        """Its Y, U and V; the hill stands before the sun."""
        share, (sun_x, sun_y) = y / self.height, self.sun
        mixed = [round(a + (b - a) * share) for a, b in zip(self.top, self.low, strict=True)]
        planes = [bytearray([part]) * self.width for part in mixed]
        within = max(0.0, self.radius**2 - (y - sun_y) ** 2)
        self._lay(planes, _SUN, sun_x, within**0.5)
        self._lay(planes, self.hill, self.peak, (y - self.height * 0.62) / 0.22)
        return planes

    def _lay(
        self, planes: list[bytearray], colour: tuple[int, int, int], middle: float, reach: float
    ) -> None:
        """This colour on all that is nearer to the middle than it reaches."""
        start = max(0, ceil(middle - reach))
        count = min(self.width, ceil(middle + reach)) - start
        if count > 0:
            for plane, part in zip(planes, colour, strict=True):
                plane[start : start + count] = bytes([part]) * count


def _box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return struct.pack(">I", len(body) + 8) + kind + body


def _full(kind: bytes, flags: int, *parts: bytes) -> bytes:
    return _box(kind, struct.pack(">I", flags), *parts)


def _file(samples: list[bytes], width: int, height: int) -> bytes:
    """An MP4 with its index before the pictures."""
    start = _box(b"ftyp", b"isom\x00\x00\x02\x00isomiso2avc1mp41")
    index = _movie(samples, width, height, 0)
    index = _movie(samples, width, height, len(start) + len(index) + 8)
    return start + index + _box(b"mdat", *samples)


def _movie(samples: list[bytes], width: int, height: int, offset: int) -> bytes:
    count = len(samples)
    matrix = struct.pack(">9I", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
    movie = _full(
        b"mvhd",
        0,
        struct.pack(">4IIH10x", 0, 0, _RATE, count, 1 << 16, 0x100),
        matrix,
        struct.pack(">24xI", 2),
    )
    track = _full(
        b"tkhd",
        3,
        struct.pack(">5I16x", 0, 0, 1, 0, count),
        matrix,
        struct.pack(">2I", width << 16, height << 16),
    )
    media = _box(
        b"mdia",
        _full(b"mdhd", 0, struct.pack(">4I2H", 0, 0, _RATE, count, 0x55C4, 0)),
        _full(b"hdlr", 0, b"\0\0\0\0vide", bytes(12), b"Pictures\0"),
        _box(
            b"minf",
            _full(b"vmhd", 1, bytes(8)),
            _box(b"dinf", _full(b"dref", 0, struct.pack(">I", 1), _full(b"url ", 1))),
            _table(samples, width, height, offset),
        ),
    )
    return _box(b"moov", movie, _box(b"trak", track, media))


def _table(samples: list[bytes], width: int, height: int, offset: int) -> bytes:
    count = len(samples)
    whole = [number + 1 for number in range(0, count, _SCENE_SECONDS * _RATE)]
    sizes = [len(sample) for sample in samples]
    return _box(
        b"stbl",
        _full(b"stsd", 0, struct.pack(">I", 1), _entry(width, height)),
        _full(b"stts", 0, struct.pack(">3I", 1, count, 1)),
        _full(b"stss", 0, struct.pack(f">{len(whole) + 1}I", len(whole), *whole)),
        _full(b"stsc", 0, struct.pack(">4I", 1, 1, count, 1)),
        _full(b"stsz", 0, struct.pack(f">{count + 2}I", 0, count, *sizes)),
        _full(b"stco", 0, struct.pack(">2I", 1, offset)),
    )


def _entry(width: int, height: int) -> bytes:
    sequence, parameters = _sequence(width, height), _parameters()
    settings = _box(
        b"avcC",
        bytes([1, *sequence[1:4], 0xFF, 0xE1]),
        struct.pack(">H", len(sequence)) + sequence,
        struct.pack(">BH", 1, len(parameters)) + parameters,
    )
    return _box(
        b"avc1",
        struct.pack(">6xH16x2H", 1, width, height),
        struct.pack(">2IIH32x2H", 72 << 16, 72 << 16, 0, 1, 24, 0xFFFF),
        settings,
    )
