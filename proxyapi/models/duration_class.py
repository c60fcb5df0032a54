"""Duration classes: renders of one type or engine and of about one length are compared."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

# Upper ends in seconds: the lengths that clips and scripts have (spec, Limits), and the longest.
LENGTH_CLASSES_S = (5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1200)
WORDS_PER_SECOND = 2.5  # calm narration, 150 words a minute


class DurationClass(NamedTuple):
    subtype: str  # type or engine, as sent; empty if the kind has none
    length: int  # upper end of the class of requested lengths, in seconds; 0: unknown


def duration_class_of(chosen: Mapping[str, Any]) -> DurationClass:
    """The class of a job by its settings. Never raises: odd settings have none."""
    named = next((chosen[name] for name in ("type", "model", "engine") if name in chosen), "")
    seconds, script = chosen.get("duration"), chosen.get("script")
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        words = len(script.split()) if isinstance(script, str) else 0
        seconds = words / WORDS_PER_SECOND
    return DurationClass(named[:60] if isinstance(named, str) else "", length_class_of(seconds))


def length_class_of(seconds: float) -> int:
    if not seconds > 0:
        return 0
    return LENGTH_CLASSES_S[min(bisect_left(LENGTH_CLASSES_S, seconds), len(LENGTH_CLASSES_S) - 1)]
