"""Stand-ins for pages that another branch brings, so that links to them work alone."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.http import TeamRequest


@require_safe
def show_placeholder(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    return HttpResponse(fetch_storyboard(request, storyboard_id).title)
