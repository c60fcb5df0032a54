"""Files that members upload to be shown in a video: what they are by their content, not by their
name, and without the place where they were taken.

A camera stores the location, and more about its owner, beside the picture. Those parts of the file
are removed, because only what a picture or film is shown with stays; it is not encoded again.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from dashboard.shared.uploads.mp4_boxes import clean_mp4
from dashboard.shared.uploads.pictures import PNG_SIGNATURE, clean_jpeg, clean_png, clean_webp

MAX_MEDIA_FILE_MB = 20
MAX_MEDIA_FILE_BYTES = MAX_MEDIA_FILE_MB * 1024**2
ACCEPTED_FORMATS = "PNG, JPG, WebP, GIF or MP4"
GIF_CONTROL = b"!\xf9"
GIF_REPEATS = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0"})
FILM_BRANDS = frozenset(
    b"isom iso2 iso3 iso4 iso5 iso6 iso7 iso8 iso9 mp41 mp42 avc1 M4VH M4VP dash mmp4".split()
) | {b"M4V ", b"3gp4", b"3gp5", b"3gp6"}
HEIC_BRANDS = frozenset(b"heic heix heim heis hevc hevx mif1 msf1 avif avis".split())


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


def clean_gif(content: bytes) -> bytes:
    """Keep pictures, how long each is shown, and how often the film repeats."""
    at = 13 + gif_palette_length(content[10])
    kept, has_picture = [content[:at]], False
    while content[at : at + 1] in (b"!", b","):  # an extension or a picture
        start, is_picture = at, content[at : at + 1] == b","
        at += 11 + gif_palette_length(content[at + 9]) if is_picture else 2
        while content[at]:
            at += 1 + content[at]
        at += 1
        kind, application = content[start : start + 2], content[start + 3 : start + 14]
        is_repeat = kind == b"!\xff" and application in GIF_REPEATS
        if is_picture or is_repeat or kind == GIF_CONTROL:
            kept.append(content[start:at])
        has_picture = has_picture or is_picture
    if not has_picture:
        raise ValueError("no picture")
    return b"".join(kept) + b";"


def gif_palette_length(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0
