"""Costs: what the service's list says, what the team really paid, how close the estimates were."""

from __future__ import annotations

from dashboard.costs.queries.page import (
    CostsPage,
    EstimateAccuracy,
    accounts_with_cost_maps,
    build_costs_page,
    load_estimate_accuracy,
)
