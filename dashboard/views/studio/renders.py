"""The price of a draft, the question before its render, and the render."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from dashboard.access import fetch_job
from dashboard.actions import studio as actions
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.queries.address import amount_or_none, text
from dashboard.queries.studio import Slug, act_of, confirm_of, price_of
from dashboard.roles import Permission
from dashboard.views.studio.answers import away, is_closed, show_step
from proxyapi.refusals import Refusal


@ASKS_OR_ACTS
def price(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The price card as it stands in our own database; POST has it asked again, free of charge."""
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.SEE)
    if posted:
        actions.ask_price(by=request.membership, job=job)
    if not request.htmx:
        return redirect("studio-step", job.pk, Slug.REVIEW)
    found = price_of(job)
    context = {"price": found, "act": act_of(found, request.membership), "fetched": True}
    part = "_act.html" if request.GET.get("part") == "act" else "_price.html"
    return render(request, f"dashboard/studio/{part}", context)


@ASKS_OR_ACTS
def renders(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The question with the price; POST holds the credits, sends, and goes to the video."""
    job = fetch_job(request, job_id, Permission.RENDER)
    refusal, nonce = "", None
    if request.method == "POST":
        nonce, seen, words = nonce_in(request), price_in(request), words_in(request)
        try:
            actions.render(by=request.membership, job=job, nonce=nonce, seen=seen, words=words)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return away(request, job)
    elif is_closed(job):
        return away(request, job)
    confirm = confirm_of(job, request.membership, refusal, nonce)
    if request.htmx:
        context = {"confirm": confirm, "fragment": True}
        return render(request, "dashboard/studio/_confirm.html", context)
    return show_step(request, job, Slug.REVIEW, None, confirm.refusal, confirm=confirm)


def words_in(request: TeamRequest) -> str | None:
    """What was written to those who decide, if it is asked for instead of sent."""
    return text(request.POST, "note") if "ask" in request.POST else None


def price_in(request: TeamRequest) -> Decimal:
    """The price the person saw when they pressed."""
    seen = amount_or_none(request.POST.get("price", ""))
    if seen is None:
        raise Http404("This form is too old. Open the draft again.")
    return seen


def nonce_in(request: TeamRequest) -> UUID:
    """A form without its nonce is not ours: it could charge twice."""
    try:
        return UUID(request.POST.get("nonce", ""))
    except ValueError:
        raise Http404("This form is too old. Open the draft again.") from None
