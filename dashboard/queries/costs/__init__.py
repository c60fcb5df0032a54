"""Costs: what the service's list says, what the team really paid, how close the estimates were."""

from __future__ import annotations

from dashboard.queries.costs.page import Page, page_of, priced

__all__ = ["Page", "page_of", "priced"]
