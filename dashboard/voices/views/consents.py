"""The withdrawal of a consent: a question, and its answer."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from dashboard.shared.access import fetch_voice
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.voices import actions
from dashboard.voices.queries.voice_page import load_voice_page
from proxyapi.refusals import Refusal

DIALOG_TEMPLATE, PAGE_TEMPLATE = "voices/_withdraw.html", "voices/page.html"


@allow_get_or_post
def withdraw_consent(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show what it means; POST withdraws the consent."""
    job = fetch_voice(request, job_id, Permission.RENDER)
    if request.method == "POST":
        try:
            actions.withdraw_consent(by=request.membership, job=job)
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
        return redirect("voice", job.pk)
    page = load_voice_page(job, request.membership)
    if request.htmx:
        return render(request, DIALOG_TEMPLATE, {"page": page, "fragment": True})
    return render(request, PAGE_TEMPLATE, {"page": page, "dialog": DIALOG_TEMPLATE})
