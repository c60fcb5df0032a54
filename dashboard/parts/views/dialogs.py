"""Render a dialog of a video: alone for htmx, on a page of its own without scripts."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render

from dashboard.shared.http import TeamRequest
from proxyapi.models import Job

DIALOG_PAGE_TEMPLATE = "parts/dialog_page.html"


def render_part_dialog(
    request: TeamRequest, job: Job, dialog: str, context: dict[str, Any]
) -> HttpResponse:
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    return render(request, DIALOG_PAGE_TEMPLATE, {**context, "job": job, "dialog": dialog})
