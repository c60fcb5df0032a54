"""The sandbox's videos: a script in, a narrated and captioned MP4 out.

`make_film` writes H.264 (yuv420p), AAC and faststart with the optional `media` extra. Without it
the same call writes a silent H.264 clip of the same length, by the standard library alone.
"""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from proxyapi.sandbox.media.film import (
    ASPECT_RATIOS,
    CAPTION_EFFECTS,
    CAPTION_POSITIONS,
    FONTS,
    GENRES,
    TRANSITIONS,
    VOLUMES,
    Film,
    MediaUnavailable,
    frame_size,
    height,
)

__all__ = [
    "ASPECT_RATIOS",
    "CAPTION_EFFECTS",
    "CAPTION_POSITIONS",
    "FONTS",
    "GENRES",
    "TRANSITIONS",
    "VOLUMES",
    "Film",
    "MediaUnavailable",
    "frame_size",
    "height",
    "make_film",
    "write_atomically",
    "write_film_still",
]

_ABANDONED_S = 120  # seconds without a write, after which a partial file has no maker any more


def make_film(film: Film, path: Path, *, height: int = 720) -> float:
    """Write the film as MP4 to `path` at once or not at all; returns its length in seconds.

    `height` is the shorter side of the frame in pixels. `film.seconds` fixes the length,
    otherwise it follows the narration.
    """
    with write_atomically(path) as partial:
        try:
            from proxyapi.sandbox.media import reel
        except ImportError:
            from proxyapi.sandbox.media import plainclip

            return plainclip.write_plain_film(film, partial)
        return reel.write(film, partial, frame_size(film.aspect_ratio, height))


def write_film_still(film: Film, path: Path, *, at: float = 1.0, height: int = 720) -> None:
    """Write one frame, without captions and title, as JPEG; `at` is in seconds.

    Raises MediaUnavailable without the media extra.
    """
    bare = replace(film, title="", script=film.script or film.title, captioned=False)
    try:
        from proxyapi.sandbox.media import reel
    except ImportError as error:
        raise MediaUnavailable("Pictures need the media extra.") from error
    with write_atomically(path) as partial:
        reel.write_still(bare, partial, frame_size(film.aspect_ratio, height), at)


@contextlib.contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends well."""
    prefix, suffix = f".{path.stem}-", path.suffix or ".mp4"
    for left in path.parent.glob(f"{glob.escape(prefix)}*{suffix}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _ABANDONED_S:
                left.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=suffix)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(0o644)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
