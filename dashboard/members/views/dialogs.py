"""Render a dialog of the members page."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render

from dashboard.members.views.members import render_members_page
from dashboard.shared.http import TeamRequest


def render_members_dialog(
    request: TeamRequest, dialog: str, context: dict[str, object], *, is_invalid: bool
) -> HttpResponse:
    """The dialog alone for htmx, else the page with the dialog open."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    status = 422 if is_invalid else 200
    return render_members_page(request, status=status, dialog=dialog, **context)
