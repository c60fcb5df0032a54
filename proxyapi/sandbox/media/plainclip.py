"""A playable film for machines without the media extra: a prepared still, shown for its length.

`plain/` holds a frame of H.264 for each look and aspect ratio, drawn as a film still, listed 60
times: a browser skips to the end of a film of one. It has no sound. The length is written into the
headers, so the standard library is enough.
"""

from __future__ import annotations

import struct
from pathlib import Path

from proxyapi.sandbox.media.film import ASPECT_RATIOS, Film
from proxyapi.sandbox.spoken_words import count_spoken_words

_CLIPS = Path(__file__).with_name("plain")
_LOOKS = ("cinematic", "noir", "watercolor", "synthwave")
_WORDS_PER_SECOND = 2.6
_MIN_SECONDS = 3.0
_FRAMES = 60
# Bytes from each box's name to its length in milliseconds: of the film, and of one frame.
_FILM_LENGTH_OFFSETS = {b"mvhd": 20, b"tkhd": 24, b"mdhd": 20}
_FRAME_LENGTH_OFFSET = 16  # of stts


def write_plain_film(film: Film, path: Path) -> float:
    """Write a silent film of about the length of its narration; returns seconds."""
    spoken = count_spoken_words(film.script) / _WORDS_PER_SECOND
    frame_ms = round(max(_MIN_SECONDS, film.seconds or spoken) * 1000 / _FRAMES)
    look = film.genre if film.genre in _LOOKS else _LOOKS[0]
    ratio = film.aspect_ratio if film.aspect_ratio in ASPECT_RATIOS else ASPECT_RATIOS[0]
    clip = bytearray((_CLIPS / f"{look}-{ratio.replace(':', 'x')}.mp4").read_bytes())
    for box, offset in _FILM_LENGTH_OFFSETS.items():
        struct.pack_into(">I", clip, clip.index(box) + offset, frame_ms * _FRAMES)
    struct.pack_into(">I", clip, clip.index(b"stts") + _FRAME_LENGTH_OFFSET, frame_ms)
    path.write_bytes(clip)
    return frame_ms * _FRAMES / 1000
