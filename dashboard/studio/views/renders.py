"""The price of a draft, the price question before its render, and the render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion, StartConfirmForm
from dashboard.shared.roles import Permission
from dashboard.studio import actions, scheduled_renders
from dashboard.studio.queries import (
    StepSlug,
    build_draft_price,
    build_render_button,
    build_render_question,
)
from dashboard.studio.views.responses import (
    STEP_TEMPLATE,
    fetch_studio_job,
    has_left_studio,
    load_step_context,
    redirect_to_video,
)
from proxyapi.models import Job
from proxyapi.refusals import Refusal, StaleData

UNDO_KEY = "scheduled_render_undo"  # in the session: the plan that was cancelled last


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


class RenderDraft(ChargeDialog):
    """Render now, at a time, or when the credits are free."""

    page_template = STEP_TEMPLATE
    form_class = StartConfirmForm

    def fetch(self, job_id: UUID) -> HttpResponse | None:
        self.job = fetch_studio_job(self.request, job_id, Permission.RENDER)
        self.back = reverse("video", args=[job_id])
        is_sent = self.request.method != "POST" and has_left_studio(self.job)
        return redirect_to(self.request, self.back) if is_sent else None

    def charge(self, **confirmed: Any) -> str | None:
        start = confirmed.pop("start")
        if start is None:
            actions.render_video(by=self.by, job=self.job, **confirmed)
            return None
        if confirmed["answer"].note is not None:
            raise Refusal(scheduled_renders.APPROVAL_IS_NOW)
        seen = confirmed["seen"]
        scheduled_renders.schedule_render(by=self.by, job=self.job, seen=seen, start=start)
        self.back = review_url(self.job)
        return "The render starts by itself. Nothing is held until then."

    def build_question(self) -> PriceQuestion:
        return build_render_question(self.job, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return load_step_context(self.request, self.job, StepSlug.REVIEW)


@require_POST
def cancel_scheduled_render(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The message of it has a button that plans it again."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    try:
        kept = scheduled_renders.cancel_scheduled_render(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        request.session[UNDO_KEY] = {**kept, "job": str(job_id)}
        undo_url = reverse("studio-schedule-restorations", args=[job_id])
        messages.info(request, "The render does not start by itself.", extra_tags=undo_url)
    return redirect(review_url(job))


@require_POST
def restore_scheduled_render(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Plan the render again that this person cancelled last, once."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    kept = request.session.get(UNDO_KEY, {})
    try:
        if kept.pop("job", "") != str(job_id):
            raise StaleData(scheduled_renders.NOT_RESTORED)
        del request.session[UNDO_KEY]
        by = request.membership
        scheduled_renders.restore_scheduled_render(by=by, job=job, kept=kept)
        messages.success(request, "The render starts by itself again.")
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return redirect(review_url(job))


def review_url(job: Job) -> str:
    return reverse("studio-step", args=[job.pk, StepSlug.REVIEW])
