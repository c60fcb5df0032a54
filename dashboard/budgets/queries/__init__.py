"""Budgets and pending approval requests as pages show them."""

from __future__ import annotations

from dashboard.budgets.queries.approval_requests import (
    ApprovalConfirmation,
    build_approval_confirmation,
)
from dashboard.budgets.queries.page import build_budgets_page
