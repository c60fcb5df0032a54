"""Storyboard films: scenes in order, each as long as it says, drawn from its prompt.

A cut parts two scenes. A chained scene stays where the one before it ends: the same place and
hour, the camera travelling on in its direction, one picture melting into the next.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import clips, films, plainclip
from proxyapi.sandbox.media.storyboard import Storyboard


def make_described(wanted: dict[str, Any], path: Path) -> float:
    return make_storyboard_film(Storyboard(**wanted), path)


def make_storyboard_film(board: Storyboard, path: Path) -> float:
    """Write the film as MP4, at once or not at all; returns its length in seconds."""
    with films.write_atomically(path) as partial:
        try:
            from proxyapi.sandbox.media import board_reel, encode
        except ImportError:
            shape = {"aspect_ratio": board.aspect_ratio, "seed": board.seed}
            plain = films.Film(script="", seconds=board.seconds, **shape)  # type: ignore[arg-type]
            return plainclip.write_plain_film(plain, partial)
        size = clips.frame_size(
            clips.Clip("", 1.0, aspect_ratio=board.aspect_ratio, resolution=board.resolution)
        )
        reel = board_reel.BoardReel(board, size, path.parent)
        return encode.write(partial, size, reel.frames(), reel.sound() if board.audio else None)
