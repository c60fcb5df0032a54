"""Addresses of budgets and of approval requests."""

from __future__ import annotations

from django.urls import path

from dashboard.budgets.views import approval_requests, budgets

urlpatterns = [
    path("budgets/", budgets.budgets, name="budgets"),
    path("budgets/new/", budgets.add_budget, name="budget-new"),
    path("budgets/<uuid:budget_id>/limits/", budgets.change_limits, name="budget-limits"),
    path("budgets/<uuid:budget_id>/removals/", budgets.end_budget, name="budget-removals"),
    path(
        "approval-requests/<uuid:ask_id>/approvals/",
        approval_requests.approve_request,
        name="approval-request-approvals",
    ),
    path(
        "approval-requests/<uuid:ask_id>/refusals/",
        approval_requests.decline_request,
        name="approval-request-refusals",
    ),
    path(
        "approval-requests/<uuid:ask_id>/withdrawals/",
        approval_requests.withdraw_request,
        name="approval-request-withdrawals",
    ),
]
