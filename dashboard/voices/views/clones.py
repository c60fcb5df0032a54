"""Views of a voice that the team clones: its form or its state, and the question before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.shared.access import check_permission, fetch_voice
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.recordings import MAX_RECORDING_BYTES, RECORDING_FORMATS
from dashboard.voices import actions
from dashboard.voices.clone_settings import GENDERS, MAX_SAMPLES
from dashboard.voices.forms import CloneConfirmForm, VoiceForm
from dashboard.voices.queries.price import build_clone_question
from dashboard.voices.queries.voice_page import VoicePage, load_voice_page
from proxyapi.models import Job
from proxyapi.refusals import Refusal

FORM_TEMPLATE, STATE_TEMPLATE = "voices/new.html", "voices/page.html"
BODY_TEMPLATE, SAVED_TEMPLATE = "voices/_body.html", "voices/_saved.html"
PRICE_TEMPLATE = "voices/_price_changed.html"
INVALID_FORM_STATUS = 422


@require_POST
def start_voice(request: TeamRequest) -> HttpResponse:
    """Create a draft of a voice, free of charge."""
    check_permission(request.membership, Permission.RENDER)
    try:
        job = actions.start_voice(by=request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("voices")
    return redirect("voice", job.pk)


@allow_get_or_post
def voice(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the form of a voice that was not created, else its state; POST saves the form.

    `?part=body` returns the state and `?part=price` the price card, which the page fetches again;
    if it has another layout by then, the whole page.
    """
    if request.method == "POST":
        return save_voice(request, fetch_voice(request, job_id, Permission.RENDER))
    page = load_voice_page(fetch_voice(request, job_id), request.membership)
    match request.GET.get("part"):
        case "price" if page.price:
            return render(request, PRICE_TEMPLATE, {"page": page})
        case "body" if not page.is_editable:
            return render(request, BODY_TEMPLATE, {"page": page})
        case "price" | "body":
            return redirect("voice", page.job_id)
        case _:
            return render_voice(request, page)


def render_voice(request: TeamRequest, page: VoicePage, refusal: str = "") -> HttpResponse:
    template = FORM_TEMPLATE if page.is_editable else STATE_TEMPLATE
    response = render(request, template, voice_context(page, refusal))
    if page.is_editable:
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY_WITH_MICROPHONE
    return response


def voice_context(page: VoicePage, refusal: str = "") -> dict[str, Any]:
    return {
        "page": page,
        "refusal": refusal or page.status.refusal,
        "genders": GENDERS,
        "formats": RECORDING_FORMATS,
        "max_bytes": MAX_RECORDING_BYTES,
        "max_samples": MAX_SAMPLES,
    }


def save_voice(request: TeamRequest, job: Job) -> HttpResponse:
    form, refusal = VoiceForm(request.POST), ""
    try:
        if not form.is_valid():
            raise Refusal(form.first_error())
        seen, chosen = form.cleaned_data["seen"], form.draft_settings()
        actions.save_voice(by=request.membership, job=job, chosen=chosen, seen=seen)
    except Refusal as refused:
        refusal = refused.sentence
    job = fetch_voice(request, job.pk)
    page = load_voice_page(job, request.membership)
    if not page.is_editable:  # it was sent meanwhile
        messages.error(request, refusal)
        return redirect_to(request, "voice", job.pk)
    if request.htmx:
        return render(request, SAVED_TEMPLATE, {"page": page, "refusal": refusal, "oob": True})
    if refusal:
        return render_voice(request, page, refusal)
    return redirect("voice", job.pk)


class CreateVoice(ChargeDialog):
    page_template, form_class = FORM_TEMPLATE, CloneConfirmForm

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_voice(self.request, job_id, Permission.RENDER)
        self.back = reverse("voice", args=[self.job.pk])

    def charge(self, **confirmed: Any) -> None:
        actions.create_voice(by=self.by, job=self.job, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_clone_question(self.job, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return voice_context(load_voice_page(self.job, self.by))


@require_POST
def delete_voice(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_voice(request, job_id, Permission.RENDER)
    try:
        actions.delete_voice(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect("voice", job.pk)
    messages.success(request, f"“{job.title}” is deleted.")
    return redirect("voices")
