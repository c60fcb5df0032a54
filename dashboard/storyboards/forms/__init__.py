"""Forms of storyboards."""

from __future__ import annotations
