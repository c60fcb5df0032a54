"""Films whose pictures are not all drawn from the script: four manners besides the plain one.

scenes    drawn, but for pictures that were re-rolled or uploaded
clips     drawn large, with a camera that travels: what a clip engine makes
footage   photographic and letterboxed: stock film
page      the pictures of a web page, lying on its colour
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proxyapi.sandbox.media.film import Film


@dataclass(frozen=True, slots=True)
class Cut:
    """`pictures` are the assets in order: `file`, `seed`, and `still` if it is drawn.

    `resolution` is a clip engine's word, such as 1080p or 768P; else the film's usual size.
    """

    film: Film
    manner: str = "scenes"
    pictures: list[dict[str, Any]] = field(default_factory=list)
    colour: str = ""
    resolution: str = ""
