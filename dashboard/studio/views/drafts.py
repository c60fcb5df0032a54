"""A draft, opened where something is missing."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from dashboard.shared.http import TeamRequest
from dashboard.studio.queries import first_open_step
from dashboard.studio.views.responses import fetch_studio_job


@require_safe
def open_draft(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Redirect to the first incomplete step."""
    job = fetch_studio_job(request, job_id)
    return redirect("studio-step", job.pk, first_open_step(job).slug)
