"""Actions on storyboards. Views use the names listed here."""

from __future__ import annotations
