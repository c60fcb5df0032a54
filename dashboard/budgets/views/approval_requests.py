"""Asks: a question before the approval, a sentence with the refusal, one's own taken back."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from dashboard.budgets.actions import approval_requests as actions
from dashboard.budgets.forms import ApprovalForm
from dashboard.budgets.queries import build_approval_confirmation
from dashboard.budgets.views.budgets import render_budget_dialog
from dashboard.models import ApprovalDecision, ApprovalRequest
from dashboard.shared.access import fetch_approval_request, fetch_own_approval_request
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.query_params import clean_text_param, video_page_url
from proxyapi.refusals import Refusal
from proxyapi.refusals import format_credits as in_words

APPROVAL_TEMPLATE, REFUSAL_TEMPLATE = (
    "budgets/approval_requests/_approve.html",
    "budgets/approval_requests/_decline.html",
)
WITHDRAWAL_TEMPLATE = "budgets/approval_requests/_withdraw.html"


@allow_get_or_post
def approve_request(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    """What it costs whom; a POST sends it, this once or under a higher limit."""
    ask, refusal = fetch_approval_request(request, ask_id), ""
    answer = build_approval_confirmation(ask)
    form = ApprovalForm(request.POST if request.method == "POST" else None, answer)
    if request.method == "POST" and form.is_valid():
        hard, drawn = form.cleaned_data["hard"], form.cleaned_data["drawn"]
        try:
            ask = actions.approve_request(by=request.membership, ask=ask, hard=hard, drawn=drawn)
        except Refusal as refused:
            answer, refusal = build_approval_confirmation(ask), refused.sentence
            form = form.with_current_version(answer)
        else:
            add_decision_message(request, ask)
            return redirect("budgets")
    context = {"answer": answer, "form": form, "refusal": refusal}
    return render_budget_dialog(
        request, APPROVAL_TEMPLATE, context, bad=bool(refusal or form.errors)
    )


@allow_get_or_post
def decline_request(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    ask, error, words = (
        fetch_approval_request(request, ask_id),
        "",
        clean_text_param(request.POST, "answer"),
    )
    if request.method == "POST":
        try:
            actions.decline_request(by=request.membership, ask=ask, words=words)
        except Refusal as refused:
            error = refused.sentence
        else:
            messages.success(request, f"{ask.member.first_name} reads why it was declined.")
            return redirect("budgets")
    context = {"answer": build_approval_confirmation(ask), "error": error, "words": words}
    return render_budget_dialog(request, REFUSAL_TEMPLATE, context, bad=bool(error))


@allow_get_or_post
def withdraw_request(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    """One's own ask, taken back before it was decided."""
    ask = fetch_own_approval_request(request, ask_id)
    if request.method != "POST":
        return render_budget_dialog(
            request, WITHDRAWAL_TEMPLATE, {"answer": build_approval_confirmation(ask)}
        )
    try:
        actions.withdraw_request(by=request.membership, ask=ask)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, "It waits no more. Nothing was sent.")
    return redirect(video_page_url(ask.charge.job) or "budgets")


def add_decision_message(request: TeamRequest, ask: ApprovalRequest) -> None:
    if ask.decision == ApprovalDecision.STALE:
        messages.error(request, ask.answer)
    else:
        hold = in_words(ask.charge.hold)
        messages.info(request, f"{hold} cr are held for {ask.member.first_name}, it is sent now.")
