"""What a scene can be about, how large it is drawn, and where it feels at home."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from proxyapi.sandbox.media.motifs import travel
from proxyapi.sandbox.media.stage import Stage


class Subject(NamedTuple):
    draw: Callable[[Stage, float, float, float], None]
    homes: tuple[str, ...]
    scale: float = 1.0
    floating: bool = False  # drawn around its place instead of standing on it


SUBJECTS: dict[str, Subject] = {
    "lighthouse": Subject(travel.lighthouse, ("sea",), 1.25),
}
