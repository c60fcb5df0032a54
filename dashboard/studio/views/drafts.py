"""The list of drafts, and a new draft."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.shared.access import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.forms import NewVideoForm
from dashboard.studio.queries import StepSlug, first_open_step, load_draft_list
from dashboard.studio.views.responses import INVALID_FORM_STATUS, fetch_studio_job
from proxyapi.refusals import Refusal

LIST_TEMPLATE = "studio/list.html"


@require_safe
def studio(request: TeamRequest) -> HttpResponse:
    context = {"list": load_draft_list(request.membership), "form": NewVideoForm()}
    return render(request, LIST_TEMPLATE, context)


@require_safe
def open_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Redirect to the first incomplete step."""
    job = fetch_studio_job(request, job_id)
    return redirect("studio-step", job.pk, first_open_step(job).slug)


@require_POST
def create_draft(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.RENDER)
    form = NewVideoForm(request.POST)
    if form.is_valid():
        try:
            job = actions.start_draft(
                by=request.membership,
                title=form.cleaned_data["title"],
                chosen=form.draft_settings(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return redirect("studio-step", job.pk, StepSlug.TYPE)
    context = {"list": load_draft_list(request.membership), "form": form}
    return render(request, LIST_TEMPLATE, context, status=INVALID_FORM_STATUS)
