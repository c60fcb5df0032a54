"""The numbers of scenes in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

LISTED_SCENES = 6  # numbers in a sentence; more are counted


def list_scenes(numbers: Sequence[int], noun: str = "Scene") -> str:
    """Return a text such as `Scene 4`, `Scenes 4, 6 and 7` or `12 scenes`."""
    if len(numbers) == 1:
        return f"{noun} {numbers[0]}"
    if len(numbers) > LISTED_SCENES:
        return f"{len(numbers)} scenes"
    *first, last = map(str, numbers)
    return f"{noun}s {', '.join(first)} and {last}"
