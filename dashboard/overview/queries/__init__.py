"""The overview: what the team has, what it spent, what runs, and what waits for a person."""

from __future__ import annotations

from dashboard.overview.queries.page import PART_BUILDERS, Overview, build_overview
