"""Files of references, and the finished films that a reference can be taken from."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.shared.access import check_permission, fetch_clip
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.videos.frame_sources import load_frame_sources
from proxyapi import stored_files
from proxyapi.kinds import FILE_KEY, REFERENCE_FIELDS
from proxyapi.models import StoredFile

SOURCES_TEMPLATE = "clips/_frame_sources.html"
SOURCES_PAGE_TEMPLATE = "clips/frame_sources.html"


@require_safe
def reference(request: TeamRequest, clip_id: UUID, name: str) -> HttpResponse:
    """Return the file of a reference of a draft."""
    job = fetch_clip(request, clip_id)
    chosen = job.draft.settings.get(name) if name in REFERENCE_FIELDS else None
    file_id = chosen.get(FILE_KEY) if isinstance(chosen, dict) else None
    file = StoredFile.objects.filter(job=job, pk=file_id).first() if file_id else None
    if file is None:
        raise Http404("This clip has no such file.")
    response = HttpResponse(stored_files.read_stored_file(file), content_type=file.content_type)
    response["Cache-Control"] = "private, no-cache"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


@require_safe
def frame_sources(request: TeamRequest) -> HttpResponse:
    """Render the dialog that takes a frame or a film from a finished video."""
    check_permission(request.membership, Permission.RENDER)
    context = {
        "sources": load_frame_sources(request.membership),
        "slot": request.GET.get("slot", "") if request.GET.get("slot") in REFERENCE_FIELDS else "",
        "takes_film": request.GET.get("film") == "1",
        "fragment": bool(request.htmx),
    }
    return render(request, SOURCES_TEMPLATE if request.htmx else SOURCES_PAGE_TEMPLATE, context)
