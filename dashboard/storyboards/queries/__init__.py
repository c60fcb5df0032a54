"""Reads of the storyboard pages. Views use the names listed here."""

from __future__ import annotations

from dashboard.storyboards.queries.clip_history import load_clip_history
from dashboard.storyboards.queries.editor import Editor, load_editor
from dashboard.storyboards.queries.film_bar import build_film_bar
from dashboard.storyboards.queries.frames import build_scene_sources, find_frame_file
from dashboard.storyboards.queries.notices import (
    build_conflict_notices,
    moved_text,
    unchained_text,
)
from dashboard.storyboards.queries.rail import build_rail

__all__ = [
    "Editor",
    "build_conflict_notices",
    "build_film_bar",
    "build_rail",
    "build_scene_sources",
    "find_frame_file",
    "load_clip_history",
    "load_editor",
    "moved_text",
    "unchained_text",
]
