"""Budgets as pages show them: meters, a line beside a price, waiting asks, history."""

from __future__ import annotations

from dashboard.queries.budgets.asks import (
    ApprovalConfirmation,
    ApprovalRequestRow,
    build_approval_confirmation,
    build_approval_request_rows,
)
from dashboard.queries.budgets.line import BudgetImpact, build_budget_impact
from dashboard.queries.budgets.page import BudgetsPage, build_budgets_page

__all__ = [
    "ApprovalConfirmation",
    "ApprovalRequestRow",
    "BudgetImpact",
    "BudgetsPage",
    "build_approval_confirmation",
    "build_approval_request_rows",
    "build_budget_impact",
    "build_budgets_page",
]
