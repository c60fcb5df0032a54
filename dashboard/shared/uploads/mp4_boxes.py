"""The boxes of MP4 files, films and sound alike: where they are, and the file without those that
describe its owner and the place where it was taken."""

from __future__ import annotations

import struct
from collections.abc import Iterator

MP4_CONTAINERS = frozenset({b"moov", b"trak", b"mdia"})
MP4_METADATA = frozenset({b"udta", b"meta", b"uuid"})


def clean_mp4(content: bytes) -> bytes:
    """Turn boxes with metadata into free space: their length stays, because others point behind
    them."""
    cleaned = bytearray(content)
    for at, end, name in mp4_boxes(content, 0, len(content)):
        if name in MP4_METADATA:
            cleaned[at + 4 : at + 8] = b"free"
            cleaned[at + 8 : end] = bytes(end - at - 8)
    return bytes(cleaned)


def mp4_boxes(content: bytes, at: int, until: int) -> Iterator[tuple[int, int, bytes]]:
    """Start, end and name of each box, also of those inside the containers."""
    while at + 8 <= until:
        length, name = struct.unpack_from(">I4s", content, at)
        head = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", content, at + 8)
            head = 16
        end = until if length == 0 else at + length
        if end > until or end < at + head:
            raise ValueError("a box is cut off")
        yield at, end, name
        if name in MP4_CONTAINERS:
            yield from mp4_boxes(content, at + head, end)
        at = end
