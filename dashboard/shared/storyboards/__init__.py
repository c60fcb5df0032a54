"""Storyboards as the editor, the video page and the studio display them: the state of each scene,
and what its clip costs by the price list."""

from __future__ import annotations
