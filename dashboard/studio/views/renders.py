"""The price of a draft, the price question before its render, and the render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.studio import actions
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
    page_template = STEP_TEMPLATE

    def fetch(self, job_id: UUID) -> HttpResponse | None:
        self.job = fetch_studio_job(self.request, job_id, Permission.RENDER)
        self.back = reverse("video", args=[job_id])
        is_sent = self.request.method != "POST" and has_left_studio(self.job)
        return redirect_to(self.request, self.back) if is_sent else None

    def charge(self, **confirmed: Any) -> None:
        actions.render_video(by=self.by, job=self.job, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_render_question(self.job, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return load_step_context(self.request, self.job, StepSlug.REVIEW)
