"""Actions on storyboards. Views use the names listed here."""

from __future__ import annotations

from dashboard.storyboards.actions.copies import is_placed, place_for_writing, place_in_copy

__all__ = ["is_placed", "place_for_writing", "place_in_copy"]
