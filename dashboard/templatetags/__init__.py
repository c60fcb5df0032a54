"""The template library `reelroom`."""

from __future__ import annotations
