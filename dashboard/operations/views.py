"""The operations page of owners and admins."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.operations.queries.page import build_operations_page
from dashboard.shared.access import require_visible
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission


@require_safe
def operations(request: TeamRequest) -> HttpResponse:
    """The page; `?part=body` returns what refreshes itself."""
    require_visible(request.membership, Permission.OPERATE)
    page = build_operations_page(request.membership)
    part = request.GET.get("part") == "body"
    template = "operations/_body.html" if part else "operations/page.html"
    return render(request, template, {"page": page})
