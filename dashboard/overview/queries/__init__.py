"""Queries of the overview: balance, spend, running renders and what needs attention."""

from __future__ import annotations

from dashboard.overview.queries.page import PART_BUILDERS, Overview, build_overview
