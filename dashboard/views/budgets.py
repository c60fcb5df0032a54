"""The budgets of the team: looked at by everybody, set by the treasurer and the owner."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.access import check, fetch_budget
from dashboard.actions import budgets as actions
from dashboard.forms.budgets import BudgetForm, LimitsForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.models import Period
from dashboard.queries.budgets import page_of
from dashboard.roles import Permission
from proxyapi.refusals import Refusal

PAGE, BODY = "dashboard/budgets/page.html", "dashboard/budgets/_body.html"
ADDITION, LIMITS = "dashboard/budgets/_addition.html", "dashboard/budgets/_limits.html"


@require_safe
@vary_on_headers("HX-Request")
def budgets(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the part of it that changes."""
    template = BODY if request.htmx else PAGE
    return render(request, template, {"page": page_of(request.membership)})


@ASKS_OR_ACTS
def additions(request: TeamRequest) -> HttpResponse:
    """A new budget."""
    check(request.membership, Permission.MANAGE_MONEY)
    form = BudgetForm(request.team, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            actions.add_budget(
                by=request.membership,
                member=form.member,
                period=Period(form.cleaned_data["period"]),
                **form.limits(),
            )
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            messages.success(request, f"{form.member or 'The whole team'} has a budget now.")
            return redirect("budgets")
    return asked(request, ADDITION, {"form": form}, bad=bool(form.errors))


@ASKS_OR_ACTS
def limits(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """Other limits for a budget."""
    budget = fetch_budget(request, budget_id)
    posted = request.method == "POST"
    form = LimitsForm(request.POST if posted else None, budget)
    if posted and form.is_valid():
        try:
            actions.change_budget(
                by=request.membership,
                budget=budget,
                drawn=form.cleaned_data["drawn"],
                **form.limits(),
            )
        except Refusal as refusal:
            budget.refresh_from_db(fields=actions.LIMITS)
            form = form.redrawn(budget)
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            return redirect("budgets")
    return asked(request, LIMITS, {"form": form, "budget": budget}, bad=bool(form.errors))


@require_POST
def endings(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """A budget that binds nobody any more; adding it again brings it back."""
    budget = fetch_budget(request, budget_id)
    actions.end_budget(by=request.membership, budget=budget)
    messages.success(request, f"The budget of {budget.member or 'the whole team'} is ended.")
    return redirect("budgets")


def asked(
    request: TeamRequest, dialog: str, context: dict[str, Any], *, bad: bool = False
) -> HttpResponse:
    """A dialog alone for htmx; without script, or refused, the page with the dialog open on it."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = {"page": page_of(request.membership), "dialog": dialog}
    return render(request, PAGE, {**page, **context}, status=422 if bad else 200)
