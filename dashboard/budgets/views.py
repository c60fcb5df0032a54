"""The budgets page, for every member; treasurer and owner set budgets and decide requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.budgets import actions
from dashboard.budgets.forms import (
    ApprovalForm,
    BudgetLimitsForm,
    CommentForm,
    DeclineForm,
    NewBudgetForm,
    NewMemberBudgetForm,
    RaiseForm,
    SecondPersonForm,
)
from dashboard.budgets.queries import (
    build_approval_confirmation,
    build_approval_page,
    build_budgets_page,
    find_new_member_budget,
)
from dashboard.models import ApprovalDecision, ApprovalRequest, BudgetPeriod
from dashboard.shared.access import (
    check_permission,
    fetch_approval_request,
    fetch_budget,
    fetch_own_approval_request,
    fetch_readable_approval_request,
)
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import current_rule
from dashboard.shared.shell import build_app_shell
from dashboard.shared.team_balance import all_team_accounts
from proxyapi.refusals import Refusal, format_credits

PAGE_TEMPLATE, BODY_TEMPLATE = "budgets/page.html", "budgets/_body.html"
REQUEST_TEMPLATE, REQUEST_BODY_TEMPLATE = (
    "budgets/approval_requests/page.html",
    "budgets/approval_requests/_body.html",
)


@require_safe
@vary_on_headers("HX-Request")
def budgets(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the part of it that changes."""
    if not request.htmx:
        return render(request, PAGE_TEMPLATE, load_page_context(request))
    page = build_budgets_page(request.membership, all_team_accounts(request.team.tenant))
    return render(request, BODY_TEMPLATE, {"page": page})


def load_page_context(request: TeamRequest) -> dict[str, Any]:
    """The page and its shell use the same accounts."""
    shell = build_app_shell(request.membership)
    return {"page": build_budgets_page(request.membership, shell.accounts), "shell": shell}


class BudgetDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "budgets"

    def fetch(self, *args: Any, **ids: Any) -> None:
        check_permission(self.by, Permission.MANAGE_MONEY)

    def load_page(self) -> Mapping[str, Any]:
        return load_page_context(self.request)


class AddBudget(BudgetDialog):
    template_name = "budgets/_new_budget.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> NewBudgetForm:
        return NewBudgetForm(self.request.team, data)

    def save(self, form: NewBudgetForm) -> str:
        period = BudgetPeriod(form.cleaned_data["period"])
        limits: dict[str, Any] = form.limits()
        budget = actions.add_budget(by=self.by, period=period, **form.subject, **limits)
        return f"{capfirst(budget.subject)} now has a budget."


class ChangeLimits(BudgetDialog):
    template_name = "budgets/_limits.html"

    def fetch(self, budget_id: UUID) -> None:
        self.budget = fetch_budget(self.request, budget_id)

    def build_form(self, data: Mapping[str, Any] | None = None) -> BudgetLimitsForm:
        return BudgetLimitsForm(data, self.budget)

    def save(self, form: BudgetLimitsForm) -> str:
        drawn = form.cleaned_data["drawn"]
        actions.change_budget(by=self.by, budget=self.budget, drawn=drawn, **form.limits())
        return ""

    def rebuild_form(self, form: BudgetLimitsForm) -> BudgetLimitsForm:
        self.budget.refresh_from_db(fields=actions.LIMIT_FIELDS)
        return form.with_current_version(self.budget)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"budget": self.budget}


class RaiseBudget(BudgetDialog):
    """Raise the limit until a time; it falls back by itself."""

    template_name = "budgets/_raise.html"

    def fetch(self, budget_id: UUID) -> None:
        self.budget = fetch_budget(self.request, budget_id)

    def build_form(self, data: Mapping[str, Any] | None = None) -> RaiseForm:
        return RaiseForm(data, self.budget)

    def save(self, form: RaiseForm) -> str:
        actions.raise_budget(by=self.by, budget=self.budget, **form.cleaned_data)
        return ""

    def rebuild_form(self, form: RaiseForm) -> RaiseForm:
        self.budget.refresh_from_db()
        return form.with_current_version(self.budget)

    def load_dialog(self) -> Mapping[str, Any]:
        zone = self.request.team.tenant.time_zone
        return {"budget": self.budget, "time_zone": zone.replace("_", " ")}


@require_POST
def end_raise(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    budget = fetch_budget(request, budget_id)
    try:
        actions.end_raise(by=request.membership, budget=budget)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, f"The raise of the budget of {budget.subject} has ended.")
    return redirect("budgets")


class NewMembers(BudgetDialog):
    """Set, change or remove the budget that new members start with."""

    template_name = "budgets/_new_members_dialog.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> NewMemberBudgetForm:
        return NewMemberBudgetForm(data, find_new_member_budget(self.by))

    def save(self, form: NewMemberBudgetForm) -> str:
        actions.set_new_member_budget(by=self.by, **form.cleaned_data)
        return "Saved. It applies to members who join from now on."

    def rebuild_form(self, form: NewMemberBudgetForm) -> NewMemberBudgetForm:
        return form.with_default(find_new_member_budget(self.by))

    def load_dialog(self) -> Mapping[str, Any]:
        return {"default": find_new_member_budget(self.by)}


@require_POST
def end_budget(request: TeamRequest, budget_id: UUID) -> HttpResponse:
    """Remove a budget; adding it again restores it."""
    budget = fetch_budget(request, budget_id)
    actions.end_budget(by=request.membership, budget=budget)
    messages.success(request, f"Budget of {budget.subject} removed.")
    return redirect("budgets")


class SecondPersonRule(BudgetDialog):
    """Set, change or remove the rule."""

    template_name = "budgets/_second_person_dialog.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> SecondPersonForm:
        return SecondPersonForm(data, current_rule(self.by))

    def save(self, form: SecondPersonForm) -> str:
        actions.set_second_person_rule(by=self.by, **form.rule())
        return "Rule saved. Requests that wait stay until they are decided."

    def rebuild_form(self, form: SecondPersonForm) -> SecondPersonForm:
        return form.with_current_version(current_rule(self.by))

    def load_dialog(self) -> Mapping[str, Any]:
        return {"above": current_rule(self.by)}


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


class RequestDialog(BudgetDialog):
    def fetch(self, approval_id: UUID) -> None:
        self.approval = fetch_approval_request(self.request, approval_id)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"answer": build_approval_confirmation(self.approval, self.by)}


class ApproveRequest(RequestDialog):
    """Send what was requested, once or under a raised limit."""

    template_name = "budgets/approval_requests/_approve.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> ApprovalForm:
        return ApprovalForm(data, build_approval_confirmation(self.approval, self.by))

    def save(self, form: ApprovalForm) -> str:
        approval = actions.approve_request(
            by=self.by,
            approval=self.approval,
            hard=form.cleaned_data["hard"],
            drawn=form.cleaned_data["drawn"],
            beyond_balance="anyway" in self.request.POST,
        )
        if approval.decision == ApprovalDecision.STALE:
            messages.error(self.request, approval.answer)
            return ""
        hold = format_credits(approval.charge.hold)
        return f"{hold} cr are held for {approval.member.first_name}. It is sent now."

    def rebuild_form(self, form: ApprovalForm) -> ApprovalForm:
        return form.with_current_version(build_approval_confirmation(self.approval, self.by))


class DeclineRequest(RequestDialog):
    template_name, form_class = "budgets/approval_requests/_decline.html", DeclineForm

    def save(self, form: PortalForm) -> str:
        reason = form.cleaned_data["answer"]
        actions.decline_request(by=self.by, approval=self.approval, reason=reason)
        return f"{self.approval.member.first_name} is notified of the reason."


class WithdrawRequest(RequestDialog):
    """Withdraw the member's own request before it is decided."""

    template_name = "budgets/approval_requests/_withdraw.html"

    def fetch(self, approval_id: UUID) -> None:
        self.approval = fetch_own_approval_request(self.request, approval_id)

    def save(self, form: PortalForm) -> str:
        actions.withdraw_request(by=self.by, approval=self.approval)
        self.back = job_page_url(self.approval.charge.job) or self.back
        return "Request withdrawn. Nothing was sent."
