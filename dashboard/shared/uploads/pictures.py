"""Pictures that members upload: their format and size by their content, without their metadata.

A picture is never decoded here: no library that parses pixels runs in a process that holds secrets,
and a picture of huge size costs nothing. So it is not encoded again either: only the parts of the
file that are listed here stay, those that a picture is drawn with, and its size is read from its
own headers. Of a JPEG's metadata only the rotation is kept. A colour profile stays whole.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_PHOTO_MB = 10
MAX_PHOTO_BYTES = MAX_PHOTO_MB * 1024**2
MAX_PHOTO_MEGAPIXELS = 40
PHOTO_FORMATS = "JPG, PNG or WebP"
PNG_CHUNKS = frozenset(
    {b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP"}
    | {b"sBIT", b"bKGD", b"pHYs", b"acTL", b"fcTL", b"fdAT"}
)
PNG_HEADER_BYTES = 13
WEBP_CHUNKS = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
WEBP_METADATA_FLAGS = 0x0C  # of the VP8X header: it announces Exif and XMP
JPEG_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
# Tables, scans, restarts, the end; and of applications the colours.
JPEG_TABLES = frozenset({0xC4, 0xCC, 0xDA, 0xDB, 0xDC, 0xDD, 0xD9}) | JPEG_STANDALONE
JPEG_APPLICATIONS = {0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
JFIF, JFIF_BYTES = b"JFIF\0", 18  # without the small picture that may follow
JPEG_SCAN_END = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
ORIENTATION_TAG = 0x0112
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_ANIMATION = b"acTL"
WEBP_ANIMATION_FLAG = 0x02  # of the VP8X header
JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # segments with the size

PHOTO_EMPTY = "The file is empty. Choose another one."
PHOTO_TOO_LARGE = f"The file is larger than {MAX_PHOTO_MB} MB. Make it smaller and choose it again."
NOT_A_PHOTO = f"This file is not a picture. Choose a {PHOTO_FORMATS}."
OTHER_FORMAT = f"This kind of picture is not accepted. Save it as {PHOTO_FORMATS}."
PHOTO_DAMAGED = "The picture is damaged or incomplete. Save it again and choose it once more."
PHOTO_ANIMATED = "This picture moves. Choose one that does not."
TOO_MANY_PIXELS = (
    "The picture has {width:,} × {height:,} pixels. At most "
    f"{MAX_PHOTO_MEGAPIXELS} million are accepted. Make it smaller and choose it again."
)


class PhotoRefused(ValueError):
    """The file cannot be used as a photo; the message is a sentence for the member."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo without its metadata; width and height in pixels, as it is shown."""

    content: bytes
    content_type: str
    width: int
    height: int


def read_photo(content: bytes) -> Photo:
    """Raises `PhotoRefused`."""
    if not content:
        raise PhotoRefused(PHOTO_EMPTY)
    if len(content) > MAX_PHOTO_BYTES:
        raise PhotoRefused(PHOTO_TOO_LARGE)
    name = photo_format(content)
    clean, measure = READERS[name]
    try:
        cleaned = clean(content)
        width, height = measure(cleaned)
    except (struct.error, IndexError, ValueError) as error:
        if isinstance(error, PhotoRefused):
            raise
        raise PhotoRefused(PHOTO_DAMAGED) from None
    if not width or not height:
        raise PhotoRefused(PHOTO_DAMAGED)
    if width * height > MAX_PHOTO_MEGAPIXELS * 10**6:
        raise PhotoRefused(TOO_MANY_PIXELS.format(width=width, height=height))
    return Photo(cleaned, f"image/{name}", width, height)


def photo_format(content: bytes) -> str:
    """The name of the format, by the first bytes."""
    if content.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if content.startswith(PNG_SIGNATURE):
        return "png"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    is_other = (
        content[:4] in (b"GIF8", b"II*\0", b"MM\0*")
        or content[:2] == b"BM"
        or content[4:8] == b"ftyp"
        or b"<svg" in content[:4096].lower()
    )
    raise PhotoRefused(OTHER_FORMAT if is_other else NOT_A_PHOTO)


def jpeg_size(content: bytes) -> tuple[int, int]:
    size, orientation = (0, 0), 0
    for marker, segment in jpeg_segments(content):
        if marker in JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", segment, 5)
            size = (max(size[0], width), max(size[1], height))
        elif marker == 0xE1:
            orientation = exif_orientation(segment[10:])
    return size[::-1] if orientation >= 5 else size  # turned by a quarter


def png_size(content: bytes) -> tuple[int, int]:
    """Also check each chunk's checksum: a damaged picture is not sent."""
    at, size = len(PNG_SIGNATURE), (0, 0)
    while at < len(content):
        length, name = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", content, at + 8 + length)
        if zlib.crc32(name + data) != checksum:
            raise ValueError("a chunk is damaged")
        if name == PNG_ANIMATION:
            raise PhotoRefused(PHOTO_ANIMATED)
        if name == b"IHDR":
            size = struct.unpack_from(">II", data)
        at += 12 + length
    return size


def webp_size(content: bytes) -> tuple[int, int]:
    """The larger of what the headers of file and picture say."""
    at, sizes = 12, list[tuple[int, int]]()
    while at < len(content):
        name, length = struct.unpack_from("<4sI", content, at)
        data = content[at + 8 : at + 8 + length]
        if name == b"VP8X":
            if data[0] & WEBP_ANIMATION_FLAG:
                raise PhotoRefused(PHOTO_ANIMATED)
            sizes.append((uint24(data, 4) + 1, uint24(data, 7) + 1))
        elif name == b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 6)
            sizes.append((width & 0x3FFF, height & 0x3FFF))
        elif name == b"VP8L":
            (packed,) = struct.unpack_from("<I", data, 1)
            sizes.append(((packed & 0x3FFF) + 1, ((packed >> 14) & 0x3FFF) + 1))
        at += 8 + length + length % 2
    return max(width for width, _ in sizes), max(height for _, height in sizes)


def uint24(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 3], "little")


def clean_jpeg(content: bytes) -> bytes:
    """Keep what the picture is drawn with, and the rotation; drop what follows the picture."""
    kept, orientation = [b"\xff\xd8"], 0
    for marker, segment in jpeg_segments(content):
        if marker == 0xE1 and segment[4:10] == b"Exif\0\0":
            orientation = orientation or exif_orientation(segment[10:])
        if marker == 0xE0 and segment[4:9] == JFIF and len(kept) == 1:
            kept.append(b"\xff\xe0\0\x10" + segment[4 : JFIF_BYTES - 2] + b"\0\0")
        elif is_drawn_with(marker, segment[4:]):
            kept.append(segment)
    # Behind the JFIF header, which has to be the first.
    place = 2 if kept[1][:2] == b"\xff\xe0" else 1
    kept.insert(place, orientation_segment(orientation))
    return b"".join(kept)


def is_drawn_with(marker: int, data: bytes) -> bool:
    application = JPEG_APPLICATIONS.get(marker)
    is_colour = application is not None and data.startswith(application)
    return is_colour or marker in JPEG_FRAMES or marker in JPEG_TABLES


def jpeg_segments(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Marker and bytes of each segment, up to the end of the first picture. A scan is one segment
    with its data; a progressive picture has several, and other segments between them."""
    at, has_picture = 2, False
    while True:
        if content[at] != 0xFF:
            raise ValueError("no marker")
        marker = content[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        if marker == 0xD9:
            if not has_picture:
                raise ValueError("no picture")
            yield marker, content[at : at + 2]
            return
        end = at + 2
        if marker not in JPEG_STANDALONE:
            (length,) = struct.unpack_from(">H", content, end)
            end += length
            if length < 2 or end > len(content):
                raise ValueError("a segment is cut off")
        if marker == 0xDA:
            following = JPEG_SCAN_END.search(content, end)
            if following is None:
                raise ValueError("no end")
            end, has_picture = following.start(), True
        yield marker, content[at:end]
        at = end


def exif_orientation(tiff: bytes) -> int:
    """The rotation from 2 to 8 in Exif data; 0 if it has none or cannot be read."""
    try:
        order = {b"II": "<", b"MM": ">"}[tiff[:2]]
        (offset,) = struct.unpack_from(f"{order}I", tiff, 4)
        (count,) = struct.unpack_from(f"{order}H", tiff, offset)
        for entry in range(count):
            tag, kind, _, value = struct.unpack_from(f"{order}HHIH", tiff, offset + 2 + 12 * entry)
            if (tag, kind) == (ORIENTATION_TAG, 3) and 2 <= value <= 8:
                return int(value)
    except (KeyError, struct.error):
        return 0
    return 0


def orientation_segment(orientation: int) -> bytes:
    if not orientation:
        return b""
    entry = struct.pack(">HHIHH", ORIENTATION_TAG, 3, 1, orientation, 0)
    tiff = b"MM\0*" + struct.pack(">IH", 8, 1) + entry + b"\0\0\0\0"
    return b"\xff\xe1" + struct.pack(">H", len(tiff) + 8) + b"Exif\0\0" + tiff


def clean_png(content: bytes) -> bytes:
    """The header is the first chunk and there is one: with two, a decoder may take the size from
    the other one."""
    kept, at = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while True:
        length, name = struct.unpack_from(">I4s", content, at)
        chunk = content[at : at + 12 + length]
        if len(chunk) < 12 + length:
            raise ValueError("a chunk is cut off")
        is_first = at == len(PNG_SIGNATURE)
        if (name == b"IHDR") != is_first or (is_first and length != PNG_HEADER_BYTES):
            raise ValueError("no header, or several")
        if name in PNG_CHUNKS:
            kept.append(chunk)
        elif name[:1].isupper():
            raise ValueError("it cannot be drawn without a chunk that nobody knows")
        at += 12 + length
        if name == b"IEND":
            return b"".join(kept)


def clean_webp(content: bytes) -> bytes:
    kept, at = list[bytes](), 12
    until = min(len(content), 8 + struct.unpack_from("<I", content, 4)[0])
    while at < until:
        name, length = struct.unpack_from("<4sI", content, at)
        end = at + 8 + length + length % 2
        chunk = content[at:end]
        if len(chunk) < 8 + length:
            raise ValueError("a chunk is cut off")
        if name == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~WEBP_METADATA_FLAGS]) + chunk[9:]
        if name in WEBP_CHUNKS:
            kept.append(chunk)
        at = end
    if not kept:
        raise ValueError("no picture")
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body


READERS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], tuple[int, int]]]] = {
    "jpeg": (clean_jpeg, jpeg_size),
    "png": (clean_png, png_size),
    "webp": (clean_webp, webp_size),
}
