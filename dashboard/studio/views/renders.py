"""The price of a draft, the question before its render, and the render."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from dashboard.shared.access import fetch_job
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.query_params import clean_text_param, parse_credits
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.queries import (
    StepSlug,
    build_draft_price,
    build_render_button,
    build_render_confirmation,
)
from dashboard.studio.views.responses import has_left_studio, redirect_to_video, render_step_page
from proxyapi.refusals import Refusal


@allow_get_or_post
def draft_price(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The price card as it stands in our own database; POST has it asked again, free of charge."""
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.VIEW)
    if posted:
        actions.request_draft_price(by=request.membership, job=job)
    if not request.htmx:
        return redirect("studio-step", job.pk, StepSlug.REVIEW)
    found = build_draft_price(job)
    context = {
        "price": found,
        "act": build_render_button(found, request.membership),
        "fetched": True,
    }
    part = "_act.html" if request.GET.get("part") == "act" else "_price.html"
    return render(request, f"studio/{part}", context)


@allow_get_or_post
def render_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The question with the price; POST holds the credits, sends, and goes to the video."""
    job = fetch_job(request, job_id, Permission.RENDER)
    refusal, nonce = "", None
    if request.method == "POST":
        nonce, seen, words = (
            parse_render_nonce(request),
            parse_shown_price(request),
            parse_approval_note(request),
        )
        try:
            actions.render_video(
                by=request.membership, job=job, nonce=nonce, seen=seen, words=words
            )
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return redirect_to_video(request, job)
    elif has_left_studio(job):
        return redirect_to_video(request, job)
    confirm = build_render_confirmation(job, request.membership, refusal, nonce)
    if request.htmx:
        context = {"confirm": confirm, "fragment": True}
        return render(request, "studio/_confirm.html", context)
    return render_step_page(request, job, StepSlug.REVIEW, None, confirm.refusal, confirm=confirm)


def parse_approval_note(request: TeamRequest) -> str | None:
    """What was written to those who decide, if it is asked for instead of sent."""
    return clean_text_param(request.POST, "note") if "ask" in request.POST else None


def parse_shown_price(request: TeamRequest) -> Decimal:
    """The price the person saw when they pressed."""
    seen = parse_credits(request.POST.get("price", ""))
    if seen is None:
        raise Http404("This form is too old. Open the draft again.")
    return seen


def parse_render_nonce(request: TeamRequest) -> UUID:
    """A form without its nonce is not ours: it could charge twice."""
    try:
        return UUID(request.POST.get("nonce", ""))
    except ValueError:
        raise Http404("This form is too old. Open the draft again.") from None
