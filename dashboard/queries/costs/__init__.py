"""Costs: what the service's list says, what the team really paid, how close the estimates were."""

from __future__ import annotations

from dashboard.queries.costs.page import Closeness, Page, closeness_of, page_of, priced

__all__ = ["Closeness", "Page", "closeness_of", "page_of", "priced"]
