"""Budgets as pages show them: meters, a line beside a price, pending approval requests, history."""

from __future__ import annotations

from dashboard.budgets.queries.approval_requests import (
    ApprovalConfirmation,
    ApprovalRequestRow,
    build_approval_confirmation,
    build_approval_request_rows,
)
from dashboard.budgets.queries.page import BudgetsPage, build_budgets_page
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
