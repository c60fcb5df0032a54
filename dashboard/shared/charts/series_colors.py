"""Which colour a member has in charts, and what has none of its own."""

from __future__ import annotations

from collections.abc import Iterable

SERIES_TONES = ("m1", "m2", "m3", "m4", "m6")
OTHERS_TONE = "m5"  # slate: everybody from the sixth on
OUTSIDE_TONE = "outside"  # hatched grey, never a colour


def assign_member_tones(user_ids: Iterable[int]) -> dict[int, str]:
    """Colours in order of joining, for the members a chart tells apart."""
    return {
        user_id: SERIES_TONES[place] if place < len(SERIES_TONES) else OTHERS_TONE
        for place, user_id in enumerate(sorted(user_ids))
    }
