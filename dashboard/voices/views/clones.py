"""Views of a voice that the team clones: its form or its state, and the question before it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from dashboard.shared.access import check_permission, fetch_voice
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
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
PRICE_TEMPLATE, QUESTION_TEMPLATE = "voices/_price_changed.html", "components/price_question.html"
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


def render_voice(
    request: TeamRequest, page: VoicePage, *, refusal: str = "", **context: Any
) -> HttpResponse:
    shown = {
        "page": page,
        "refusal": refusal or page.status.refusal,
        "genders": GENDERS,
        "formats": RECORDING_FORMATS,
        "max_bytes": MAX_RECORDING_BYTES,
        "max_samples": MAX_SAMPLES,
        **context,
    }
    response = render(request, FORM_TEMPLATE if page.is_editable else STATE_TEMPLATE, shown)
    if page.is_editable:
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY_WITH_MICROPHONE
    return response


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
        return render_voice(request, page, refusal=refusal)
    return redirect("voice", job.pk)


@allow_get_or_post
def create_voice(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show the price question; POST creates the voice once per rendered form."""
    job, refusal = fetch_voice(request, job_id, Permission.RENDER), ""
    if request.method == "POST":
        try:
            arguments = CloneConfirmForm(request.POST).charge_arguments()
            actions.create_voice(by=request.membership, job=job, **arguments)
        except Refusal as refused:
            job, refusal = fetch_voice(request, job_id), refused.sentence
        else:
            return redirect_to(request, "voice", job.pk)
    question = build_clone_question(job, request.membership, refusal)
    if request.htmx:
        return render(request, QUESTION_TEMPLATE, {"question": question, "fragment": True})
    page = load_voice_page(job, request.membership)
    return render_voice(request, page, question=question)


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
