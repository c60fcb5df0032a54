"""Queries of the budgets page: budgets, their history and pending approval requests."""

from __future__ import annotations

from dashboard.budgets.queries.approval_page import build_approval_page
from dashboard.budgets.queries.approval_requests import (
    ApprovalConfirmation,
    build_approval_confirmation,
)
from dashboard.budgets.queries.page import (
    build_budgets_page,
    find_new_member_budget,
    load_visible_usages,
)
