"""What renders are compared with: those of one type or engine, and of about one length."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any, NamedTuple

# Upper ends in seconds: the lengths that clips and scripts have (spec, Limits), and the longest.
LENGTHS = (5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1200)
WORDS_A_SECOND = 2.5  # calm narration, 150 words a minute


class Sort(NamedTuple):
    variety: str  # type or engine, as sent; empty where the kind has none
    length: int  # upper end of the class of asked lengths, in seconds; 0: unknown


def sort_of(wanted: Mapping[str, Any]) -> Sort:
    """The sort of a job by what was asked for. Never raises: odd settings have no sort."""
    named = next((wanted[name] for name in ("type", "model", "engine") if name in wanted), "")
    seconds, script = wanted.get("duration"), wanted.get("script")
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        words = len(script.split()) if isinstance(script, str) else 0
        seconds = words / WORDS_A_SECOND
    return Sort(named[:60] if isinstance(named, str) else "", class_of(seconds))


def class_of(seconds: float) -> int:
    if not seconds > 0:
        return 0
    return LENGTHS[min(bisect_left(LENGTHS, seconds), len(LENGTHS) - 1)]
