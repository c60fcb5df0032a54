"""The overview: what the team has, what it spent, what runs, and what waits for a person."""

from __future__ import annotations

from dashboard.queries.overview.page import PARTS, Overview, overview_of

__all__ = ["PARTS", "Overview", "overview_of"]
