"""What a storyboard's film is: its scenes in order, and what they share. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Storyboard:
    """Each scene has `prompt, seconds, chained, seed`, and `first` and `last`: references to
    pictures, or None."""

    scenes: list[dict[str, Any]]
    aspect_ratio: str = "16:9"
    resolution: str = "720p"
    audio: bool = True
    seed: int = 0

    @property
    def seconds(self) -> float:
        return float(sum(scene["seconds"] for scene in self.scenes))
