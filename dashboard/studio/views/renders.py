"""The price of a draft, the price question before its render, and the render."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.queries import (
    StepSlug,
    build_draft_price,
    build_render_button,
    build_render_question,
)
from dashboard.studio.views.responses import (
    fetch_studio_job,
    has_left_studio,
    redirect_to_video,
    render_step_page,
)
from proxyapi.refusals import Refusal


@allow_get_or_post
def draft_price(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the price card from our own database; POST requests a new price, free of charge."""
    posted = request.method == "POST"
    job = fetch_studio_job(request, job_id, Permission.RENDER if posted else Permission.VIEW)
    if has_left_studio(job):
        return redirect_to_video(request, job)
    if posted:
        actions.request_draft_price(by=request.membership, job=job)
    if not request.htmx:
        return redirect("studio-step", job.pk, StepSlug.REVIEW)
    price = build_draft_price(job)
    context = {
        "price": price,
        "act": build_render_button(price, request.membership),
        "fetched": True,
    }
    part = "_act.html" if request.GET.get("part") == "act" else "_price.html"
    return render(request, f"studio/{part}", context)


@allow_get_or_post
def render_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show the price question; POST holds the credits, sends the render and redirects to the
    video."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    form, refusal = ConfirmForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST":
        try:
            actions.render_video(by=request.membership, job=job, **form.charge_arguments())
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return redirect_to_video(request, job)
    elif has_left_studio(job):
        return redirect_to_video(request, job)
    question = build_render_question(job, request.membership, refusal, form.idempotency_key)
    if request.htmx:
        context = {"question": question, "fragment": True}
        return render(request, "components/price_question.html", context)
    return render_step_page(request, job, StepSlug.REVIEW, None, refusal, question=question)
