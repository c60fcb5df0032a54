"""What the views of a storyboard answer: its page again with a message, or a dialog."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.query_params import parse_uuid
from proxyapi.models import Storyboard

DIALOG_PAGE_TEMPLATE = "storyboards/dialog_page.html"


def return_to_editor(request: TeamRequest, storyboard: Storyboard) -> HttpResponse:
    """Redirect to the editor, at the scene that is picked there."""
    return redirect_to(request, editor_url(request, storyboard))


def editor_url(request: TeamRequest, storyboard: Storyboard) -> str:
    url = reverse("storyboard", args=[storyboard.pk])
    query = parse_qs(urlsplit(request.htmx.current_url or "").query)
    scene_id = parse_uuid(request.POST.get("scene", "") or query.get("scene", [""])[0])
    return f"{url}?scene={scene_id}" if scene_id else url


def render_dialog(
    request: TeamRequest, storyboard: Storyboard, dialog: str, context: dict[str, Any]
) -> HttpResponse:
    """Render a dialog alone for htmx, on a page of its own without scripts."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    context = {**context, "storyboard": storyboard, "dialog": dialog}
    return render(request, DIALOG_PAGE_TEMPLATE, context)
