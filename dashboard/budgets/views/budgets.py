"""The budgets of the team: looked at by everybody, set by the treasurer and the owner."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.budgets.actions import budgets as actions
from dashboard.budgets.forms import BudgetLimitsForm, NewBudgetForm
from dashboard.budgets.queries import build_budgets_page
from dashboard.models import BudgetPeriod
from dashboard.shared.access import check_permission, fetch_budget
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, BODY_TEMPLATE = "budgets/page.html", "budgets/_body.html"
NEW_BUDGET_TEMPLATE, LIMITS_TEMPLATE = (
    "budgets/_new_budget.html",
    "budgets/_limits.html",
)


@require_safe
@vary_on_headers("HX-Request")
def budgets(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the part of it that changes."""
    template = BODY_TEMPLATE if request.htmx else PAGE_TEMPLATE
    return render(request, template, {"page": build_budgets_page(request.membership)})


@allow_get_or_post
def add_budget(request: TeamRequest) -> HttpResponse:
    """A new budget."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    form = NewBudgetForm(request.team, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.add_budget(
                by=request.membership,
                member=form.member,
                period=BudgetPeriod(form.cleaned_data["period"]),
                **form.limits(),
            )
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            messages.success(request, f"{form.member or 'The whole team'} has a budget now.")
            return redirect("budgets")
    return render_budget_dialog(request, NEW_BUDGET_TEMPLATE, {"form": form}, bad=bool(form.errors))


@allow_get_or_post
def change_limits(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """Other limits for a budget."""
    budget = fetch_budget(request, budget_id)
    posted = request.method == "POST"
    form = BudgetLimitsForm(request.POST if posted else None, budget)
    if posted and form.is_valid():
        try:
            actions.change_budget(
                by=request.membership,
                budget=budget,
                drawn=form.cleaned_data["drawn"],
                **form.limits(),
            )
        except Refusal as refusal:
            budget.refresh_from_db(fields=actions.LIMIT_FIELDS)
            form = form.with_current_version(budget)
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            return redirect("budgets")
    return render_budget_dialog(
        request, LIMITS_TEMPLATE, {"form": form, "budget": budget}, bad=bool(form.errors)
    )


@require_POST
def end_budget(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """A budget that binds nobody any more; adding it again brings it back."""
    budget = fetch_budget(request, budget_id)
    actions.end_budget(by=request.membership, budget=budget)
    messages.success(request, f"The budget of {budget.member or 'the whole team'} is ended.")
    return redirect("budgets")


def render_budget_dialog(
    request: TeamRequest, dialog: str, context: dict[str, Any], *, bad: bool = False
) -> HttpResponse:
    """A dialog alone for htmx; without script, or refused, the page with the dialog open on it."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = {"page": build_budgets_page(request.membership), "dialog": dialog}
    return render(request, PAGE_TEMPLATE, {**page, **context}, status=422 if bad else 200)
