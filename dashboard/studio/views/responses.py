"""What the studio answers: a whole page, or with htmx the parts of it that changed.

Every page works as a plain form; with htmx a field is saved when it is left.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render

from dashboard.shared.access import fetch_job
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.roles import Permission
from dashboard.studio.flows import has_flow
from dashboard.studio.forms import StepForm, WriteScriptForm, build_step_form
from dashboard.studio.queries import (
    StepSlug,
    StudioPage,
    VoiceFilter,
    has_active_render,
    load_studio_page,
    load_voice_list,
)
from proxyapi.models import Job, JobState

STEP_TEMPLATE = "studio/step.html"
VOICES_TEMPLATE = "studio/steps/_voices.html"
INVALID_FORM_STATUS = 422


def fetch_studio_job(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """A job whose kind the studio has steps for; those of another kind would not be its own."""
    job = fetch_job(request, job_id, permission)
    if not has_flow(job):
        raise Http404("The studio has no steps for this kind of video.")
    return job


def render_step_page(
    request: TeamRequest,
    job: Job,
    slug: StepSlug,
    form: StepForm | None = None,
    refusal: str = "",
    **more: Any,
) -> HttpResponse:
    """The whole page of a step; a refused or unusable form comes back with what was typed."""
    page = load_studio_page(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal, **more}
    if form is None and slug != StepSlug.REVIEW:
        context["form"] = build_step_form(job, slug, page.options).with_service_errors()
    if slug == StepSlug.SCRIPT:
        context.setdefault("write", build_write_form(page, job))
    if slug == StepSlug.VOICE:
        chosen = request.GET.get("voice_id") or context["form"]["voice_id"].value()
        context["voices"] = load_voice_list(
            job, page.options, parse_voice_filter(request), str(chosen or "")
        )
        if request.htmx.target == "voices":
            return render(request, VOICES_TEMPLATE, {**context, "fragment": True})
    bad = refusal or any(it is not None and it.errors for it in (form, more.get("write")))
    return render(request, STEP_TEMPLATE, context, status=INVALID_FORM_STATUS if bad else 200)


def render_saved_field(
    request: TeamRequest, job: Job, form: StepForm, slug: StepSlug, refusal: str = ""
) -> HttpResponse:
    """What a saved field changes around its form: spine, price, button, the form's marks."""
    page = load_studio_page(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal}
    return render(request, "studio/_saved.html", context)


def render_script_part(
    request: TeamRequest, job: Job, form: StepForm | None = None, **more: Any
) -> HttpResponse:
    """The part of the page with both cards. `form` holds own words that were not saved."""
    if not request.htmx:
        return redirect("studio-step", job.pk, StepSlug.SCRIPT)
    page = load_studio_page(job, request.membership, StepSlug.SCRIPT)
    drawn = form or build_step_form(job, StepSlug.SCRIPT, page.options).with_service_errors()
    context = {"page": page, "form": drawn, "oob": True, **more}
    context.setdefault("write", build_write_form(page, job))
    return render(request, "studio/steps/script.html", context)


def build_write_form(page: StudioPage, job: Job) -> WriteScriptForm:
    """Drawn with what the last script was asked for with, if one was."""
    first = {"topic": job.draft.settings.get("topic") or job.title, "duration": 60}
    return WriteScriptForm(
        page.options,
        initial={
            **first,
            **page.last_script_request,
            "nonce": page.script_question.idempotency_key,
        },
    )


def parse_voice_filter(request: TeamRequest) -> VoiceFilter:
    words, language, gender = (
        request.GET.get(name, "").strip()[:100] for name in ("q", "language", "gender")
    )
    return VoiceFilter(words, language, gender)


def has_left_studio(job: Job) -> bool:
    """Whether it left the studio: rendered, rendering, or a render may be on its way."""
    return job.state != JobState.DRAFT or has_active_render(job)


def redirect_to_video(request: TeamRequest, job: Job, *, told: bool = False) -> HttpResponse:
    """To the page of the video. `told` says why what was sent is not kept."""
    if told:
        messages.info(request, "This video is being rendered. Its settings cannot be changed.")
    return redirect_to(request, "video", job.pk)
