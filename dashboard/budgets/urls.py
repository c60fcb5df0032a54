"""URLs of budgets and of approval requests."""

from __future__ import annotations

from django.urls import path

from dashboard.budgets import views

urlpatterns = [
    path("budgets/", views.budgets, name="budgets"),
    path("budgets/new/", views.add_budget, name="budget-new"),
    path("budgets/<uuid:budget_id>/limits/", views.change_limits, name="budget-limits"),
    path("budgets/<uuid:budget_id>/removals/", views.end_budget, name="budget-removals"),
    path("budgets/second-person/", views.second_person_rule, name="second-person-rule"),
    path("approval-requests/<uuid:approval_id>/", views.approval_request, name="approval-request"),
    path(
        "approval-requests/<uuid:approval_id>/comments/",
        views.comment_on_request,
        name="approval-request-comments",
    ),
    path(
        "approval-requests/<uuid:approval_id>/approvals/",
        views.approve_request,
        name="approval-request-approvals",
    ),
    path(
        "approval-requests/<uuid:approval_id>/refusals/",
        views.decline_request,
        name="approval-request-refusals",
    ),
    path(
        "approval-requests/<uuid:approval_id>/withdrawals/",
        views.withdraw_request,
        name="approval-request-withdrawals",
    ),
]
