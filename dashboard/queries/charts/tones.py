"""Which colour a member has in charts, and what has none of its own."""

from __future__ import annotations

from collections.abc import Iterable

TONES = ("m1", "m2", "m3", "m4", "m6")
OTHERS = "m5"  # slate: everybody from the sixth on
OUTSIDE = "outside"  # hatched grey, never a colour


def tones(user_ids: Iterable[int]) -> dict[int, str]:
    """Colours in order of joining, for the members a chart tells apart."""
    return {
        user_id: TONES[place] if place < len(TONES) else OTHERS
        for place, user_id in enumerate(sorted(user_ids))
    }
