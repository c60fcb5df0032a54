"""Asks: a question before the approval, a sentence with the refusal, one's own taken back."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from dashboard.access import fetch_ask, fetch_own_ask
from dashboard.actions import asks as actions
from dashboard.forms.budgets import ApprovalForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.models import Ask, Decision
from dashboard.queries.address import job_url, text
from dashboard.queries.budgets import answer_of
from dashboard.views.budgets import asked
from proxyapi.refusals import Refusal
from proxyapi.refusals import format_credits as in_words

APPROVAL, REFUSAL = "dashboard/asks/_approval.html", "dashboard/asks/_refusal.html"
WITHDRAWAL = "dashboard/asks/_withdrawal.html"


@ASKS_OR_ACTS
def approvals(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    """What it costs whom; a POST sends it, this once or under a higher limit."""
    ask, refusal = fetch_ask(request, ask_id), ""
    answer = answer_of(ask)
    form = ApprovalForm(request.POST if request.method == "POST" else None, answer)
    if request.method == "POST" and form.is_valid():
        hard, drawn = form.cleaned_data["hard"], form.cleaned_data["drawn"]
        try:
            ask = actions.approve(by=request.membership, ask=ask, hard=hard, drawn=drawn)
        except Refusal as refused:
            answer, refusal = answer_of(ask), refused.sentence
            form = form.redrawn(answer)
        else:
            tell(request, ask)
            return redirect("budgets")
    context = {"answer": answer, "form": form, "refusal": refusal}
    return asked(request, APPROVAL, context, bad=bool(refusal or form.errors))


@ASKS_OR_ACTS
def refusals(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    ask, error, words = fetch_ask(request, ask_id), "", text(request.POST, "answer")
    if request.method == "POST":
        try:
            actions.decline(by=request.membership, ask=ask, words=words)
        except Refusal as refused:
            error = refused.sentence
        else:
            messages.success(request, f"{ask.member.first_name} reads why it was declined.")
            return redirect("budgets")
    context = {"answer": answer_of(ask), "error": error, "words": words}
    return asked(request, REFUSAL, context, bad=bool(error))


@ASKS_OR_ACTS
def withdrawals(request: TeamRequest, ask_id: UUID) -> HttpResponse:
    """One's own ask, taken back before it was decided."""
    ask = fetch_own_ask(request, ask_id)
    if request.method != "POST":
        return asked(request, WITHDRAWAL, {"answer": answer_of(ask)})
    try:
        actions.take_back(by=request.membership, ask=ask)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.success(request, "It waits no more. Nothing was sent.")
    return redirect(job_url(ask.charge.job) or "budgets")


def tell(request: TeamRequest, ask: Ask) -> None:
    if ask.decision == Decision.STALE:
        messages.error(request, ask.answer)
    else:
        hold = in_words(ask.charge.hold)
        messages.info(request, f"{hold} cr are held for {ask.member.first_name}, it is sent now.")
