"""The budgets page, for every member; treasurer and owner set budgets and decide requests."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.budgets import actions
from dashboard.budgets.forms import (
    ApprovalForm,
    BudgetLimitsForm,
    CommentForm,
    NewBudgetForm,
    SecondPersonForm,
)
from dashboard.budgets.queries import (
    build_approval_confirmation,
    build_approval_page,
    build_budgets_page,
)
from dashboard.models import ApprovalDecision, ApprovalRequest, BudgetPeriod
from dashboard.shared.access import (
    check_permission,
    fetch_approval_request,
    fetch_budget,
    fetch_own_approval_request,
    fetch_readable_approval_request,
)
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.query_params import clean_text_param
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import current_rule
from proxyapi.refusals import Refusal
from proxyapi.refusals import format_credits as in_words

PAGE_TEMPLATE, BODY_TEMPLATE = "budgets/page.html", "budgets/_body.html"
NEW_BUDGET_TEMPLATE, LIMITS_TEMPLATE = (
    "budgets/_new_budget.html",
    "budgets/_limits.html",
)
APPROVAL_TEMPLATE, REFUSAL_TEMPLATE = (
    "budgets/approval_requests/_approve.html",
    "budgets/approval_requests/_decline.html",
)
REQUEST_TEMPLATE, REQUEST_BODY_TEMPLATE = (
    "budgets/approval_requests/page.html",
    "budgets/approval_requests/_body.html",
)
RULE_TEMPLATE = "budgets/_second_person_dialog.html"
WITHDRAWAL_TEMPLATE = "budgets/approval_requests/_withdraw.html"


@require_safe
@vary_on_headers("HX-Request")
def budgets(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the part of it that changes."""
    template = BODY_TEMPLATE if request.htmx else PAGE_TEMPLATE
    return render(request, template, {"page": build_budgets_page(request.membership)})


@allow_get_or_post
def add_budget(request: TeamRequest) -> HttpResponse:
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
            messages.success(request, f"{form.member or 'The whole team'} now has a budget.")
            return redirect("budgets")
    return render_budget_dialog(
        request, NEW_BUDGET_TEMPLATE, {"form": form}, is_invalid=bool(form.errors)
    )


@allow_get_or_post
def change_limits(request: TeamRequest, budget_id: UUID) -> HttpResponse:
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
        request, LIMITS_TEMPLATE, {"form": form, "budget": budget}, is_invalid=bool(form.errors)
    )


@require_POST
def end_budget(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """Remove a budget; adding it again restores it."""
    budget = fetch_budget(request, budget_id)
    actions.end_budget(by=request.membership, budget=budget)
    messages.success(request, f"Budget of {budget.member or 'the whole team'} removed.")
    return redirect("budgets")


@allow_get_or_post
def second_person_rule(request: TeamRequest) -> HttpResponse:
    """The dialog to set, change or remove the rule; a POST saves it."""
    check_permission(request.membership, Permission.MANAGE_MONEY)
    above, posted = current_rule(request.membership), request.method == "POST"
    form = SecondPersonForm(request.POST if posted else None, above)
    if posted and form.is_valid():
        try:
            actions.set_second_person_rule(by=request.membership, **form.rule())
        except Refusal as refusal:
            above = current_rule(request.membership)
            form = form.with_current_version(above)
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            messages.success(request, "Rule saved. Requests that wait stay until they are decided.")
            return redirect("budgets")
    context = {"form": form, "above": above}
    return render_budget_dialog(request, RULE_TEMPLATE, context, is_invalid=bool(form.errors))


def render_budget_dialog(
    request: TeamRequest, dialog: str, context: dict[str, Any], *, is_invalid: bool = False
) -> HttpResponse:
    """The dialog alone for htmx; without JavaScript the page with the dialog open."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = {"page": build_budgets_page(request.membership), "dialog": dialog}
    return render(request, PAGE_TEMPLATE, {**page, **context}, status=422 if is_invalid else 200)


@require_safe
@vary_on_headers("HX-Request")
def approval_request(request: TeamRequest, approval_id: UUID) -> HttpResponse:
    """The page of a request; for htmx the part of it that changes."""
    approval = fetch_readable_approval_request(request, approval_id)
    return render_approval_request(request, approval, CommentForm())


@require_POST
def comment_on_request(request: TeamRequest, approval_id: UUID) -> HttpResponse:
    approval = fetch_readable_approval_request(request, approval_id)
    form = CommentForm(request.POST)
    if form.is_valid():
        try:
            actions.add_approval_comment(
                by=request.membership, approval=approval, text=form.cleaned_data["text"]
            )
        except Refusal as refusal:
            form.add_error("text", refusal.sentence)
        else:
            return redirect("approval-request", approval.pk)
    return render_approval_request(request, approval, form)


def render_approval_request(
    request: TeamRequest, approval: ApprovalRequest, form: CommentForm
) -> HttpResponse:
    page = build_approval_page(approval, request.membership)
    template = REQUEST_BODY_TEMPLATE if request.htmx else REQUEST_TEMPLATE
    status = 422 if form.errors and not request.htmx else 200
    return render(request, template, {"page": page, "form": form}, status=status)


@allow_get_or_post
def approve_request(request: TeamRequest, approval_id: UUID) -> HttpResponse:
    """The approval dialog; a POST sends the request, once or under a raised limit."""
    approval, refusal = fetch_approval_request(request, approval_id), ""
    answer = build_approval_confirmation(approval, request.membership)
    form = ApprovalForm(request.POST if request.method == "POST" else None, answer)
    if request.method == "POST" and form.is_valid():
        hard, drawn = form.cleaned_data["hard"], form.cleaned_data["drawn"]
        try:
            approval = actions.approve_request(
                by=request.membership,
                approval=approval,
                hard=hard,
                drawn=drawn,
                beyond_balance="anyway" in request.POST,
            )
        except Refusal as refused:
            answer, refusal = (
                build_approval_confirmation(approval, request.membership),
                refused.sentence,
            )
            form = form.with_current_version(answer)
        else:
            add_decision_message(request, approval)
            return redirect("budgets")
    context = {"answer": answer, "form": form, "refusal": refusal}
    return render_budget_dialog(
        request, APPROVAL_TEMPLATE, context, is_invalid=bool(refusal or form.errors)
    )


@allow_get_or_post
def decline_request(request: TeamRequest, approval_id: UUID) -> HttpResponse:
    approval, error, reason = (
        fetch_approval_request(request, approval_id),
        "",
        clean_text_param(request.POST, "answer"),
    )
    if request.method == "POST":
        try:
            actions.decline_request(by=request.membership, approval=approval, reason=reason)
        except Refusal as refused:
            error = refused.sentence
        else:
            messages.success(request, f"{approval.member.first_name} is notified of the reason.")
            return redirect("budgets")
    context = {
        "answer": build_approval_confirmation(approval, request.membership),
        "error": error,
        "words": reason,
    }
    return render_budget_dialog(request, REFUSAL_TEMPLATE, context, is_invalid=bool(error))


@allow_get_or_post
def withdraw_request(request: TeamRequest, approval_id: UUID) -> HttpResponse:
    """Withdraw the member's own request before it is decided."""
    approval = fetch_own_approval_request(request, approval_id)
    if request.method != "POST":
        return render_budget_dialog(
            request,
            WITHDRAWAL_TEMPLATE,
            {"answer": build_approval_confirmation(approval, request.membership)},
        )
    try:
        actions.withdraw_request(by=request.membership, approval=approval)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, "Request withdrawn. Nothing was sent.")
    return redirect(job_page_url(approval.charge.job) or "budgets")


def add_decision_message(request: TeamRequest, approval: ApprovalRequest) -> None:
    if approval.decision == ApprovalDecision.STALE:
        messages.error(request, approval.answer)
    else:
        hold = in_words(approval.charge.hold)
        messages.info(
            request, f"{hold} cr are held for {approval.member.first_name}. It is sent now."
        )
