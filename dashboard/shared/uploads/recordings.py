"""Recordings that members upload to have a voice cloned: what they are by their content, not by
their name, and how long they are where the file says so.

What is beside the sound (place, names, comments, covers) is removed from MP3, WAV, FLAC and M4A.
Nothing is encoded again, and OGG and WebM are sent as they are.
The limits are ours: the service states none but the number of samples (spec, Limits).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dashboard.shared.uploads.mp4_boxes import clean_mp4, mp4_boxes

MAX_RECORDING_MB = 25
MAX_RECORDING_BYTES = MAX_RECORDING_MB * 1024**2
MIN_RECORDING_S, MAX_RECORDING_S = 5, 180
LENGTH_TOLERANCE_S = 1.0  # a recorder that stops at three minutes is a little late
RECORDING_FORMATS = "MP3, WAV, M4A, OGG, FLAC or WebM"

RECORDING_EMPTY = "The file is empty. Choose another one."
RECORDING_TOO_LARGE = f"The file is larger than {MAX_RECORDING_MB} MB. Choose a smaller one."
NOT_SOUND = f"This file cannot be read as sound. Choose one that is {RECORDING_FORMATS}."
IS_FILM = "This file is a film. Choose a recording without pictures."
RECORDING_DAMAGED = "The file is damaged or incomplete. Save it again and choose it once more."
TOO_SHORT = f"It is shorter than {MIN_RECORDING_S} seconds. A voice needs 30 seconds or more."
TOO_LONG = "It is longer than 3 minutes. Cut it and choose it again."

EBML_HEADER, FLAC_HEADER = b"\x1a\x45\xdf\xa3", b"fLaC"
WAV_CHUNKS = frozenset({b"fmt ", b"fact", b"data"})
FLAC_BLOCKS = frozenset({0, 3})  # STREAMINFO, SEEKTABLE
WEBM_FILM_CODECS = (b"V_VP8", b"V_VP9", b"V_AV1", b"V_MPEG")
WEBM_HEAD_BYTES = 65_536  # where tracks and duration are
OGG_FILM_CODECS = (b"\x80theora", b"BBCD\0", b"\x01video")
OPUS_RATE_HZ = 48_000
# MPEG audio, layer III: kbit/s by index, of version 1 and of versions 2 and 2.5; Hz by index.
MP3_BITRATES = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
MP3_RATES_HZ = (44_100, 48_000, 32_000)
MP3_RATE_DIVISORS = {3: 1, 2: 2, 0: 4}  # by the version's bits


class RecordingRefused(ValueError):
    """The file cannot be used; the message is a sentence for the member."""


@dataclass(frozen=True, slots=True)
class Recording:
    """`seconds` is None if the file does not say how long it is."""

    content: bytes
    content_type: str
    seconds: float | None


def read_recording(content: bytes) -> Recording:
    """Return the file with its type and length. Raises `RecordingRefused`."""
    if not content:
        raise RecordingRefused(RECORDING_EMPTY)
    if len(content) > MAX_RECORDING_BYTES:
        raise RecordingRefused(RECORDING_TOO_LARGE)
    content_type = recording_type(content)
    try:
        seconds = LENGTH_READERS[content_type](content)
        cleaned = CLEANERS.get(content_type, bytes)(content)
    except (struct.error, IndexError, ValueError, ZeroDivisionError, RecursionError) as error:
        if isinstance(error, RecordingRefused):
            raise
        raise RecordingRefused(RECORDING_DAMAGED) from None
    if seconds is not None and seconds < MIN_RECORDING_S:
        raise RecordingRefused(TOO_SHORT)
    if seconds is not None and seconds > MAX_RECORDING_S + LENGTH_TOLERANCE_S:
        raise RecordingRefused(TOO_LONG)
    return Recording(cleaned, content_type, seconds)


def recording_type(content: bytes) -> str:
    """The content type by the first bytes. Raises `RecordingRefused` for any other."""
    if content[:4] == b"RIFF" and content[8:12] == b"WAVE":
        return "audio/wav"
    if content[:4] == FLAC_HEADER:
        return "audio/flac"
    if content[:4] == b"OggS":
        return "audio/ogg"
    if content[:4] == EBML_HEADER:
        return "audio/webm"
    if content[4:8] == b"ftyp":
        return "audio/mp4"
    if is_mp3(content):
        return "audio/mpeg"
    raise RecordingRefused(NOT_SOUND)


def wav_seconds(content: bytes) -> float:
    bytes_per_second, at = 0, 12
    while at + 8 <= len(content):
        name, length = struct.unpack_from("<4sI", content, at)
        if name == b"fmt ":
            (bytes_per_second,) = struct.unpack_from("<I", content, at + 16)
        if name == b"data":  # a recorder that was stopped leaves a length that is too large
            return float(min(length, len(content) - at - 8) / bytes_per_second)
        at += 8 + length + length % 2
    raise ValueError("no sound")


def clean_wav(content: bytes) -> bytes:
    """Keep the format and the sound."""
    kept, at = list[bytes](), 12
    while at + 8 <= len(content):
        name, length = struct.unpack_from("<4sI", content, at)
        data = content[at + 8 : at + 8 + length]
        if name in WAV_CHUNKS:
            kept.append(struct.pack("<4sI", name, len(data)) + data + bytes(len(data) % 2))
        at += 8 + length + length % 2
    body = b"WAVE" + b"".join(kept)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def clean_flac(content: bytes) -> bytes:
    """Keep the blocks that describe the sound and where parts of it are."""
    kept, at, is_last = list[tuple[int, bytes]](), len(FLAC_HEADER), False
    while not is_last:
        (header,) = struct.unpack_from(">I", content, at)
        is_last, kind, length = bool(header >> 31), header >> 24 & 0x7F, header & 0xFFFFFF
        if kind in FLAC_BLOCKS:
            kept.append((kind, content[at + 4 : at + 4 + length]))
        at += 4 + length
    blocks = [
        struct.pack(">I", (place == len(kept)) << 31 | kind << 24 | len(data)) + data
        for place, (kind, data) in enumerate(kept, 1)
    ]
    return FLAC_HEADER + b"".join(blocks) + content[at:]


def flac_seconds(content: bytes) -> float | None:
    """From the first block; 0 samples mean that the length is not known."""
    (packed,) = struct.unpack_from(">Q", content, 18)
    rate, samples = packed >> 44, packed & 0xFFFFFFFFF
    return samples / rate if samples else None


def ogg_seconds(content: bytes) -> float:
    """From the position of the last page, in samples."""
    if any(codec in content[:256] for codec in OGG_FILM_CODECS):
        raise RecordingRefused(IS_FILM)
    rate = OPUS_RATE_HZ
    if (head := content.find(b"\x01vorbis", 0, 256)) >= 0:
        (rate,) = struct.unpack_from("<I", content, head + 12)
    elif b"OpusHead" not in content[:256]:
        raise RecordingRefused(NOT_SOUND)
    (samples,) = struct.unpack_from("<q", content, content.rfind(b"OggS") + 6)
    return float(samples / rate)


def mp4_seconds(content: bytes) -> float:
    seconds, handlers = 0.0, set[bytes]()
    for at, _, name in mp4_boxes(content, 0, len(content)):
        if name == b"hdlr":
            handlers.add(content[at + 16 : at + 20])
        if name == b"mvhd":
            is_long = content[at + 8] == 1
            form, place = (">IQ", at + 28) if is_long else (">II", at + 20)
            scale, length = struct.unpack_from(form, content, place)
            seconds = length / scale
    if b"vide" in handlers:
        raise RecordingRefused(IS_FILM)
    if b"soun" not in handlers:
        raise RecordingRefused(NOT_SOUND)
    return seconds


def webm_seconds(content: bytes) -> float | None:
    """From the duration element, which a browser's recorder leaves out."""
    head = content[:WEBM_HEAD_BYTES]
    if any(codec in head for codec in WEBM_FILM_CODECS):
        raise RecordingRefused(IS_FILM)
    if b"A_OPUS" not in head and b"A_VORBIS" not in head:
        raise RecordingRefused(NOT_SOUND)
    for form, mark in ((">d", b"\x44\x89\x88"), (">f", b"\x44\x89\x84")):
        if (at := head.find(mark)) >= 0:
            (length,) = struct.unpack_from(form, head, at + 3)
            return float(length) / 1000  # the scale of every known recorder is a millisecond
    return None


def is_mp3(content: bytes) -> bool:
    """Whether three frames follow one another; a single header is found in any data."""
    frames = mp3_frames(content)
    return all(next(frames, None) for _ in range(3))


def mp3_seconds(content: bytes) -> float:
    return sum(seconds for seconds, _, _ in mp3_frames(content))


def clean_mp3(content: bytes) -> bytes:
    """Keep the frames: names, comments and covers are before and behind them."""
    return b"".join(content[at:end] for _, at, end in mp3_frames(content))


def mp3_frames(content: bytes) -> Iterator[tuple[float, int, int]]:
    """Seconds, start and end of each frame, up to what is not one."""
    at = 0
    if content[:3] == b"ID3" and len(content) > 10:
        size = [byte & 0x7F for byte in content[6:10]]
        at = 10 + (size[0] << 21 | size[1] << 14 | size[2] << 7 | size[3])
    while at + 4 <= len(content):
        (header,) = struct.unpack_from(">I", content, at)
        version, layer = header >> 19 & 3, header >> 17 & 3
        bitrate, rate = header >> 12 & 15, header >> 10 & 3
        is_frame = header >> 21 == 0x7FF and version != 1 and layer == 1
        if not is_frame or bitrate in (0, 15) or rate == 3:
            return
        rate_hz = MP3_RATES_HZ[rate] // MP3_RATE_DIVISORS[version]
        samples = 1152 if version == 3 else 576
        kbits = MP3_BITRATES[0 if version == 3 else 1][bitrate]
        end = at + samples // 8 * kbits * 1000 // rate_hz + (header >> 9 & 1)
        yield samples / rate_hz, at, end
        at = end


LENGTH_READERS: Mapping[str, Callable[[bytes], float | None]] = {
    "audio/wav": wav_seconds,
    "audio/flac": flac_seconds,
    "audio/ogg": ogg_seconds,
    "audio/webm": webm_seconds,
    "audio/mp4": mp4_seconds,
    "audio/mpeg": mp3_seconds,
}
CLEANERS: Mapping[str, Callable[[bytes], bytes]] = {
    "audio/wav": clean_wav,
    "audio/flac": clean_flac,
    "audio/mp4": clean_mp4,
    "audio/mpeg": clean_mp3,
}
