"""Files that members upload to be shown in a video: what they are by their content, not by their
name, and without the place where they were taken.

A camera stores the location, and more about its owner, beside the picture. Those parts of the file
are removed; the picture itself is not encoded again. Of a JPEG's only the rotation is kept.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from dashboard.shared.uploads.mp4_boxes import clean_mp4

MAX_MEDIA_FILE_MB = 20
MAX_MEDIA_FILE_BYTES = MAX_MEDIA_FILE_MB * 1024**2
ACCEPTED_FORMATS = "PNG, JPG, WebP, GIF or MP4"
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_METADATA = frozenset({b"eXIf", b"tEXt", b"zTXt", b"iTXt", b"tIME"})
WEBP_METADATA = frozenset({b"EXIF", b"XMP "})
WEBP_METADATA_FLAGS = 0x0C  # of the VP8X header: it announces Exif and XMP
GIF_REPEATS = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0"})
FILM_BRANDS = frozenset(
    b"isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 avc1 M4VH M4VP dash mmp4".split()
) | {b"M4V ", b"3gp4", b"3gp5", b"3gp6"}
HEIC_BRANDS = frozenset(b"heic heix heim heis hevc hevx mif1 msf1 avif avis".split())
JPEG_STANDALONE = frozenset({0x01, *range(0xD0, 0xD8)})
JPEG_METADATA = frozenset({0xE1, 0xED, 0xFE})  # Exif and XMP, IPTC, comments
JPEG_PREVIEWS = b"MPF\0"  # the index of the pictures behind the first, which are dropped
JPEG_SCAN_END = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
ORIENTATION_TAG = 0x0112


class MediaFileRefused(ValueError):
    """The file cannot be used; the message is a sentence for the member."""


TOO_LARGE = f"The file is larger than {MAX_MEDIA_FILE_MB} MB. Make it smaller and choose it again."
EMPTY_FILE = "The file is empty. Choose another one."
SVG_REFUSED = "SVG files can contain scripts and are not accepted. Save it as PNG and choose that."
NOT_MEDIA = (
    f"This file is not a picture or film, whatever its name says. Choose a file that is "
    f"{ACCEPTED_FORMATS}."
)
HEIC_REFUSED = (
    f"HEIC and AVIF pictures are not accepted. Save it as JPG, or choose a file that is "
    f"{ACCEPTED_FORMATS}."
)
DAMAGED = "The file is damaged or incomplete. Save it again and choose it once more."


@dataclass(frozen=True, slots=True)
class MediaFile:
    content: bytes
    content_type: str
    extension: str


def read_media_file(content: bytes) -> MediaFile:
    """Return the file without its metadata. Raises `MediaFileRefused`."""
    if len(content) > MAX_MEDIA_FILE_BYTES:
        raise MediaFileRefused(TOO_LARGE)
    content_type, extension = media_file_type(content)
    clean = {
        "jpg": clean_jpeg,
        "png": clean_png,
        "webp": clean_webp,
        "gif": clean_gif,
        "mp4": clean_mp4,
    }
    try:
        cleaned = clean[extension](content)
    except (struct.error, IndexError, ValueError, RecursionError):
        raise MediaFileRefused(DAMAGED) from None
    return MediaFile(cleaned, content_type, extension)


def media_file_type(content: bytes) -> tuple[str, str]:
    """Content type and extension by the first bytes. Raises `MediaFileRefused` for any other."""
    if not content:
        raise MediaFileRefused(EMPTY_FILE)
    if content.startswith(PNG_SIGNATURE):
        return "image/png", "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", "jpg"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp", "webp"
    if content[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif", "gif"
    brand = content[8:12] if content[4:8] == b"ftyp" else b""
    if brand in FILM_BRANDS:
        return "video/mp4", "mp4"
    if brand in HEIC_BRANDS:
        raise MediaFileRefused(HEIC_REFUSED)
    is_svg = b"<svg" in content[:4096].lower()
    raise MediaFileRefused(SVG_REFUSED if is_svg else NOT_MEDIA)


def clean_jpeg(content: bytes) -> bytes:
    """Drop the segments with metadata, and what follows the picture; keep the rotation."""
    kept, orientation = [b"\xff\xd8"], 0
    for marker, segment in jpeg_segments(content):
        if marker == 0xE1 and segment[4:10] == b"Exif\0\0":
            orientation = orientation or exif_orientation(segment[10:])
        is_index = marker == 0xE2 and segment[4:8] == JPEG_PREVIEWS
        if marker not in JPEG_METADATA and not is_index:
            kept.append(segment)
    # Behind the JFIF header, which has to be the first.
    place = 2 if kept[1][:2] == b"\xff\xe0" else 1
    kept.insert(place, orientation_segment(orientation))
    return b"".join(kept)


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
    kept, at = [PNG_SIGNATURE], len(PNG_SIGNATURE)
    while True:
        length, name = struct.unpack_from(">I4s", content, at)
        chunk = content[at : at + 12 + length]
        if len(chunk) < 12 + length:
            raise ValueError("a chunk is cut off")
        if name not in PNG_METADATA:
            kept.append(chunk)
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
        if name not in WEBP_METADATA:
            kept.append(chunk)
        at = end
    if not kept:
        raise ValueError("no picture")
    body = b"WEBP" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def clean_gif(content: bytes) -> bytes:
    """Drop comments and what applications added, except how often the film repeats."""
    at = 13 + gif_palette_length(content[10])
    kept, has_picture = [content[:at]], False
    while content[at : at + 1] in (b"!", b","):  # an extension or a picture
        start, is_picture = at, content[at : at + 1] == b","
        at += 11 + gif_palette_length(content[at + 9]) if is_picture else 2
        while content[at]:
            at += 1 + content[at]
        at += 1
        kind, application = content[start : start + 2], content[start + 3 : start + 14]
        is_added = kind == b"!\xff" and application not in GIF_REPEATS
        if kind != b"!\xfe" and not is_added:
            kept.append(content[start:at])
        has_picture = has_picture or is_picture
    if not has_picture:
        raise ValueError("no picture")
    return b"".join(kept) + b";"


def gif_palette_length(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0
