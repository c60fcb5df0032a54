"""Actions on storyboards. Views use the names listed here."""

from __future__ import annotations

from dashboard.storyboards.actions.copies import is_placed, place_for_writing, place_in_copy
from dashboard.storyboards.actions.fields import save_scene_fields
from dashboard.storyboards.actions.frames import FRAME_NAMES, set_scene_frame
from dashboard.storyboards.actions.scenes import (
    add_scene,
    delete_scene,
    duplicate_scene,
    move_scene,
    restore_scenes,
)
