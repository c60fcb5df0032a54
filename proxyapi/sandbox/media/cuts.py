"""Films whose pictures are not all drawn from the script, written in the manner of their cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import films
from proxyapi.sandbox.media.cut import Cut
from proxyapi.sandbox.media.film import Film


def make_described(wanted: dict[str, Any], path: Path) -> float:
    """Write the cut as MP4; returns its length in seconds."""
    cut = Cut(**{**wanted, "film": Film(**wanted["film"])})
    with films.write_atomically(path) as partial:
        try:
            from proxyapi.sandbox.media import cut_reel, encode
            from proxyapi.sandbox.media.sound import mix
        except ImportError:
            from proxyapi.sandbox.media import plainclip

            return plainclip.write_plain_film(cut.film, partial)
        size = films.frame_size(cut.film.aspect_ratio, films.height(cut.resolution))
        reel = cut_reel.CutReel(cut, size, path.parent)
        return encode.write(partial, size, reel.frames(), mix(cut.film, reel.story))
