"""The sandbox's videos: a script in, a narrated and captioned MP4 out.

`make` writes H.264 (yuv420p), AAC and faststart with the optional `media` extra. Without it
the same call writes a silent H.264 clip of the same length, by the standard library alone.
All slugs that a film honours are listed here; an unknown slug falls back to the first one.
"""

from __future__ import annotations

import contextlib
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

GENRES = (
    "cinematic",
    "watercolor",
    "anime",
    "noir",
    "paper-cut",
    "pixel-art",
    "nature-documentary",
    "synthwave",
    "storybook",
    "blueprint",
)
FONTS = ("aileron", "sans-bold", "serif", "serif-italic", "condensed", "mono")
CAPTION_EFFECTS = ("pop", "karaoke", "fade", "plain", "box", "rise")
CAPTION_POSITIONS = ("bottom", "center", "top")
TRANSITIONS = ("fade", "cut", "slide", "wipe", "zoom")
VOLUMES = ("low", "off", "medium", "high")
ASPECT_RATIOS = ("16:9", "9:16", "1:1", "4:5", "4:3", "21:9")


_ABANDONED = 120  # seconds without a write, after which a partial file has no maker any more


class MediaUnavailable(Exception):
    """What was asked for cannot be made without the media extra."""


@dataclass(frozen=True, slots=True)
class Film:
    """Everything a film depends on; the same film gives the same frames.

    `seconds` fixes the length unless the narration is longer. A film that is not narrated
    shows its script as captions, or only its pictures when it is not captioned either.
    """

    script: str
    title: str = ""
    language: str = "en"
    gender: str = "female"
    voice_seed: int = 0
    genre: str = "cinematic"
    aspect_ratio: str = "16:9"
    font: str = "aileron"
    caption_effect: str = "pop"
    caption_position: str = "bottom"
    transition: str = "fade"
    volume: str = "low"
    seed: int = 0
    watermark: str = ""
    narrated: bool = True
    captioned: bool = True
    seconds: float | None = None


def frame_size(aspect_ratio: str, height: int = 720) -> tuple[int, int]:
    """Width and height in pixels; `height` is the shorter side, both are even."""
    try:
        across, down = (float(part) for part in aspect_ratio.split(":"))
        ratio = min(max(across / down, 0.4), 2.5)
    except (ValueError, ZeroDivisionError):
        ratio = 16 / 9
    short = max(64, height) // 2 * 2
    long = round(short * max(ratio, 1 / ratio) / 2) * 2
    return (long, short) if ratio >= 1 else (short, long)


def make(film: Film, path: Path, *, height: int = 720) -> float:
    """Write the film as MP4 to `path` at once or not at all; returns its length in seconds.

    `height` is the shorter side of the frame in pixels. `film.seconds` fixes the length,
    otherwise it follows the narration.
    """
    with put_at_once(path) as partial:
        try:
            from proxyapi.sandbox.media import reel
        except ImportError:
            from proxyapi.sandbox.media import plainclip

            return plainclip.write(film, partial)
        return reel.write(film, partial, frame_size(film.aspect_ratio, height))


def still(film: Film, path: Path, *, at: float = 1.0, height: int = 720) -> None:
    """Write one frame, without captions and title, as JPEG; `at` is in seconds.

    Raises MediaUnavailable without the media extra.
    """
    bare = replace(film, title="", script=film.script or film.title, captioned=False)
    try:
        from proxyapi.sandbox.media import reel
    except ImportError as error:
        raise MediaUnavailable("Pictures need the media extra.") from error
    with put_at_once(path) as partial:
        reel.write_still(bare, partial, frame_size(film.aspect_ratio, height), at)


@contextlib.contextmanager
def put_at_once(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends well."""
    prefix, suffix = f".{path.stem}-", path.suffix or ".mp4"
    for left in path.parent.glob(f"{glob.escape(prefix)}*{suffix}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
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
