"""The template library `reelroom`, for templates alone."""

from __future__ import annotations
