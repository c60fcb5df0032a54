"""Page data of scenes and exports, complete and immutable; templates make no decisions."""

from __future__ import annotations
