"""Views of storyboards: the list, a new one, the editor, scenes, charges."""

from __future__ import annotations
