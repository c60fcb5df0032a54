"""The film of a storyboard on its video page: its scenes, what each cost, how it was made."""

from __future__ import annotations
