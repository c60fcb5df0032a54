"""The boxes of MP4 files, films and sound alike: where they are, and the file without those that no
player needs: its owner, its place and other notes are in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

MP4_CONTAINERS = frozenset(
    {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"dinf", b"edts", b"mvex", b"moof", b"traf"}
)
MP4_PLAYED = MP4_CONTAINERS | frozenset(
    b"ftyp styp mdat sidx mfra mvhd tkhd mdhd hdlr elst vmhd smhd nmhd dref stsd stts ctts cslg "
    b"stss stsz stz2 stsc stco co64 sdtp sbgp sgpd mehd trex mfhd tfhd tfdt trun".split()
)
MP4_PLAYED_TRACKS = frozenset({b"vide", b"soun"})
HANDLER_NAME_AT = 32  # of a hdlr box, behind the kind of the track


def clean_mp4(content: bytes) -> bytes:
    """Turn other boxes, and tracks that are neither picture nor sound, into free space: their
    length stays, because others point behind them. The samples of such a track stay in `mdat`,
    where nothing points to them any more."""
    cleaned = bytearray(content)
    for at, end, name in mp4_boxes(content, 0, len(content)):
        if name not in MP4_PLAYED or (name == b"trak" and not is_played(content, at, end)):
            cleaned[at + 4 : at + 8] = b"free"
            cleaned[at + 8 : end] = bytes(end - at - 8)
        elif name == b"hdlr" and cleaned[at + 4 : at + 8] == b"hdlr":
            cleaned[at + HANDLER_NAME_AT : end] = bytes(max(0, end - at - HANDLER_NAME_AT))
    return bytes(cleaned)


def is_played(content: bytes, at: int, end: int) -> bool:
    """Whether a track is picture or sound."""
    boxes = mp4_boxes(content, at + 8, end)
    kinds = [content[start + 16 : start + 20] for start, _, name in boxes if name == b"hdlr"]
    return bool(kinds) and kinds[0] in MP4_PLAYED_TRACKS


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
