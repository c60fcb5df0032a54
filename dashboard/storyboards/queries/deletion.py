"""What is said before a storyboard is deleted."""

from __future__ import annotations

from dashboard.shared.storyboards.scene_states import load_scene_rows
from proxyapi.models import JobState, Storyboard


def deletion_text(storyboard: Storyboard) -> str:
    """Five queries at most."""
    rows = load_scene_rows(storyboard)
    clips = sum(row.clip is not None for row in rows)
    films = storyboard.copies.filter(job__state=JobState.COMPLETED).count()
    parts = []
    if rows:
        scenes = "1 scene" if len(rows) == 1 else f"{len(rows)} scenes"
        have = f", {clips} with a clip that was paid for" if clips else ""
        parts.append(f"It has {scenes}{have}.")
    if films:
        parts.append(
            "Its film stays in the library." if films == 1 else "Its films stay in the library."
        )
    parts.append("It is deleted for everyone in the team, and can be restored from the list.")
    return " ".join(parts)
