"""Films whose pictures are not all drawn from the script: four manners besides the plain one.

scenes    drawn, but for pictures that were re-rolled or uploaded
clips     drawn large, with a camera that travels: what a clip engine makes
footage   photographic and letterboxed: stock film
page      the pictures of a web page, lying on its colour
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proxyapi.sandbox.media import films
from proxyapi.sandbox.media.film import Film


@dataclass(frozen=True, slots=True)
class Cut:
    """`pictures` are the assets in order: `file`, `seed`, and `still` if it is drawn."""

    film: Film
    manner: str = "scenes"
    pictures: list[dict[str, Any]] = field(default_factory=list)
    colour: str = ""


def make_described(wanted: dict[str, Any], path: Path) -> float:
    """Write the cut as MP4; returns its length in seconds."""
    cut = Cut(**{**wanted, "film": Film(**wanted["film"])})
    with films.put_at_once(path) as partial:
        try:
            from proxyapi.sandbox.media import cut_reel, encode
            from proxyapi.sandbox.media.sound import mix
        except ImportError:
            from proxyapi.sandbox.media import plainclip

            return plainclip.write(cut.film, partial)
        size = films.frame_size(cut.film.aspect_ratio)
        reel = cut_reel.CutReel(cut, size, path.parent)
        return encode.write(partial, size, reel.frames(), mix(cut.film, reel.story))
