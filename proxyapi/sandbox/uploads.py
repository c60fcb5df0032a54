"""Files of a form: what they are by their first bytes, and whether they are small enough."""

from __future__ import annotations

from fastapi import UploadFile

from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.scraping import page_reader
from proxyapi.sandbox.settings import Settings

IMAGES = ("jpg", "png", "webp")
MAX_SAMPLES = 3  # of a voice clone
# Bytes of a form's other fields; a file a little too large is a 422
FORM_OVERHEAD_BYTES = 1_000_000
_SOUNDS = {b"ID3": "mp3", b"OggS": "ogg", b"fLaC": "flac", b"\x1aE\xdf\xa3": "webm"}


def max_body_bytes(settings: Settings) -> int:
    """Bytes of the largest body that any endpoint takes."""
    samples = MAX_SAMPLES * settings.sample_bytes
    files = max(samples, settings.character_image_bytes, settings.upload_bytes)
    return files + FORM_OVERHEAD_BYTES


async def read_image(upload: UploadFile, field: str, most: int) -> tuple[bytes, str]:
    """The bytes and extension of a png, jpg or webp; raises Invalid."""
    data = await upload.read()
    kind = page_reader.sniff_extension(data)
    if kind not in IMAGES:
        raise ValidationError({field: [f"The {field} must be a png, jpg or webp."]})
    _require_size(data, field, most)
    return data, kind


async def read_sound(upload: UploadFile, field: str, most: int) -> bytes:
    """The bytes of a wav, mp3, m4a, ogg, flac or webm; raises Invalid."""
    data = await upload.read()
    if not _is_sound(data):
        raise ValidationError({field: ["The sample must be a wav, mp3, m4a, ogg, flac or webm."]})
    _require_size(data, field, most)
    return data


def _is_sound(data: bytes) -> bool:
    riff = data[:4] == b"RIFF" and data[8:12] == b"WAVE"
    mpeg = len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0 and data[1] & 0x06 != 0
    m4a = data[4:8] == b"ftyp" and data[8:11] in (b"M4A", b"iso", b"mp4", b"M4B")
    return riff or mpeg or m4a or any(data.startswith(mark) for mark in _SOUNDS)


def _require_size(data: bytes, field: str, most: int) -> None:
    if len(data) > most:
        raise ValidationError({field: [f"The {field} must not be greater than {most} bytes."]})
