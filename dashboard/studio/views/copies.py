"""New drafts from existing videos."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.flows import FLOWS
from dashboard.studio.queries import first_open_step
from dashboard.studio.views.responses import fetch_studio_job
from proxyapi.refusals import NotReady, Refusal

UNKNOWN_TYPE = "The studio does not know this type. Choose another one."


@require_POST
def copy_video(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Copy the script and the settings of a video or draft into a new draft, free of charge; with
    a `type`, for another type."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    type_ = request.POST.get("type")
    try:
        if type_ is not None and type_ not in FLOWS:
            raise NotReady(UNKNOWN_TYPE)
        copy = actions.copy_draft(by=request.membership, job=job, type_=type_)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("video" if type_ is None else "studio-draft", job.pk)
    messages.success(request, f"New draft with the script and settings of “{job.title}”.")
    return redirect("studio-step", copy.pk, first_open_step(copy).slug)
