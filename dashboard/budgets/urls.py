"""URLs of budgets and of approval requests."""

from __future__ import annotations

from django.urls import path

from dashboard.budgets import views

urlpatterns = [
    path("budgets/", views.budgets, name="budgets"),
    path("budgets/new/", views.AddBudget.as_view(), name="budget-new"),
    path("budgets/<uuid:budget_id>/limits/", views.ChangeLimits.as_view(), name="budget-limits"),
    path("budgets/<uuid:budget_id>/removals/", views.end_budget, name="budget-removals"),
    path("budgets/<uuid:budget_id>/raises/", views.RaiseBudget.as_view(), name="budget-raises"),
    path("budgets/<uuid:budget_id>/raise-ends/", views.end_raise, name="budget-raise-ends"),
    path("budgets/new-members/", views.NewMembers.as_view(), name="new-member-budget"),
    path("budgets/second-person/", views.SecondPersonRule.as_view(), name="second-person-rule"),
    path("approval-requests/<uuid:approval_id>/", views.approval_request, name="approval-request"),
    path(
        "approval-requests/<uuid:approval_id>/comments/",
        views.comment_on_request,
        name="approval-request-comments",
    ),
    path(
        "approval-requests/<uuid:approval_id>/approvals/",
        views.ApproveRequest.as_view(),
        name="approval-request-approvals",
    ),
    path(
        "approval-requests/<uuid:approval_id>/refusals/",
        views.DeclineRequest.as_view(),
        name="approval-request-refusals",
    ),
    path(
        "approval-requests/<uuid:approval_id>/withdrawals/",
        views.WithdrawRequest.as_view(),
        name="approval-request-withdrawals",
    ),
]
