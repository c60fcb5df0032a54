"""The team's drafts: the list, opening one where something is missing, deleting one."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.shared.access import fetch_hidden_job
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.lists import render_list
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.studio import actions
from dashboard.studio.queries import (
    DRAFT_PAGE_SIZE,
    DraftFilters,
    first_open_step,
    load_drafts,
)
from dashboard.studio.views.home import create_draft
from dashboard.studio.views.responses import fetch_studio_job
from proxyapi.refusals import Refusal


@allow_get_or_post
@vary_on_headers("HX-Request")
def drafts(request: TeamRequest) -> HttpResponse:
    """Render all drafts; POST creates one."""
    if request.method == "POST":
        return create_draft(request)
    filters = DraftFilters.parse(request.GET.dict())
    context = load_drafts(request.membership, filters, DRAFT_PAGE_SIZE)
    return render_list(request, "studio/drafts.html", "studio/drafts.html#list", context)


@require_safe
def open_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Redirect to the first incomplete step."""
    job = fetch_studio_job(request, job_id)
    return redirect("studio-step", job.pk, first_open_step(job).slug)


@require_POST
def delete_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    try:
        actions.delete_draft(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        undo_url = reverse("studio-restorations", args=[job.pk])
        # The message stays until it is closed, because it contains the undo button.
        messages.info(request, f"“{job.title}” is deleted.", extra_tags=undo_url)
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))


@require_POST
def restore_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_hidden_job(request, job_id)
    actions.restore_draft(by=request.membership, job=job)
    messages.success(request, f"“{job.title}” is a draft again.")
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))
