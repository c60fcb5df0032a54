"""Responses of the studio: a whole page, or with htmx the changed parts.

Every page works as a plain form; with htmx a field is saved when it loses the focus.
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
from dashboard.shared.videos.labels import is_made_in_studio
from dashboard.studio.flows import flow_of
from dashboard.studio.forms import (
    PageReadForm,
    StepForm,
    WritePageScriptForm,
    WriteScriptForm,
    build_step_form,
)
from dashboard.studio.forms.new_draft import UNTITLED
from dashboard.studio.kept_settings.capture import draft_origin
from dashboard.studio.presets.queries import load_draft_kit
from dashboard.studio.queries import (
    FacelessOptions,
    StepSlug,
    StudioPage,
    VoiceFilter,
    has_active_render,
    load_option_stills,
    load_script_defaults,
    load_studio_page,
    load_voice_list,
    median_costs_by_type,
    requires_script_words,
)
from proxyapi.models import Job, JobOrigin, JobState, PageRead

STEP_TEMPLATE = "studio/step.html"
VOICES_TEMPLATE = "studio/steps/_voices.html"
INVALID_FORM_STATUS = 422
TYPE_COST_LENGTH_S = 60  # seconds of the video that the costs beside the types are for


def fetch_studio_job(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """Return a job that has steps in the studio; raise `Http404` for other kinds."""
    job = fetch_job(request, job_id, permission)
    if job.origin == JobOrigin.GATEWAY:
        raise Http404("Made by a script. It has no draft in the studio.")
    if not is_made_in_studio(job):
        raise Http404("The studio has no steps for this kind of video.")
    return job


def render_step_page(
    request: TeamRequest,
    job: Job,
    slug: StepSlug,
    form: StepForm | None = None,
    refusal: str = "",
    **context_values: Any,
) -> HttpResponse:
    """Render the page of a step; a refused or invalid form keeps its input."""
    context = load_step_context(request, job, slug, form, refusal, **context_values)
    if slug == StepSlug.VOICE and request.htmx.target == "voices":
        return render(request, VOICES_TEMPLATE, {**context, "fragment": True})
    is_refused = refusal or any(
        candidate is not None and candidate.errors
        for candidate in (form, context_values.get("write"), context_values.get("read"))
    )
    return render(
        request, STEP_TEMPLATE, context, status=INVALID_FORM_STATUS if is_refused else 200
    )


def load_step_context(
    request: TeamRequest,
    job: Job,
    slug: StepSlug,
    form: StepForm | None = None,
    refusal: str = "",
    **context_values: Any,
) -> dict[str, Any]:
    page = load_studio_page(job, request.membership, slug)
    kit = load_draft_kit(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal, "kit": kit, **context_values}
    if form is None and slug != StepSlug.REVIEW:
        context["form"] = build_step_form(job, slug, page.options).with_service_errors()
    if page.flow_step.has_script:
        context.setdefault("write", build_write_form(page, job))
        if not page.script:
            context["write"].focus_topic()
    if slug == StepSlug.SOURCE:
        context.setdefault("read", PageReadForm(url=page.source.url))
    if slug == StepSlug.TYPE:
        context["form"].past_costs = median_costs_by_type(
            request.membership.team.tenant, job.chosen_settings, TYPE_COST_LENGTH_S
        )
    if slug == StepSlug.VISUALS:
        context["form"].stills = load_option_stills(job, page.options)
    if slug == StepSlug.VOICE:
        chosen = request.GET.get("voice_id") or context["form"]["voice_id"].value()
        context["voices"] = load_voice_list(
            job, request.membership, page.options, parse_voice_filter(request), str(chosen or "")
        )
    return context


def render_saved_field(
    request: TeamRequest,
    job: Job,
    form: StepForm,
    slug: StepSlug,
    refusal: str = "",
    *,
    has_new_type: bool = False,
) -> HttpResponse:
    """Render what a saved field changes around its form: step list, price, button, version
    fields; with another type also its formats."""
    page = load_studio_page(job, request.membership, slug)
    kit = load_draft_kit(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal, "kit": kit}
    return render(request, "studio/_saved.html", {**context, "has_new_type": has_new_type})


def render_script_part(
    request: TeamRequest, job: Job, form: StepForm | None = None, **context_values: Any
) -> HttpResponse:
    """Render the cards of the script. `form` has text that was not saved."""
    slug = flow_of(job).script_slug
    if not request.htmx:
        return redirect("studio-step", job.pk, slug)
    page = load_studio_page(job, request.membership, slug)
    shown_form = form or build_step_form(job, slug, page.options).with_service_errors()
    context = {"page": page, "form": shown_form, "oob": True, **context_values}
    context.setdefault("write", build_write_form(page, job))
    return render(request, "studio/steps/script.html", context)


def render_source_part(
    request: TeamRequest, job: Job, read: PageReadForm | None = None, **context_values: Any
) -> HttpResponse:
    """Render the cards of the web page, and what around them depends on its images."""
    if not request.htmx:
        return redirect("studio-step", job.pk, StepSlug.SOURCE)
    page = load_studio_page(job, request.membership, StepSlug.SOURCE)
    context = {"page": page, "read": read or PageReadForm(url=page.source.url), "oob": True}
    return render(request, "studio/steps/source/part.html", {**context, **context_values})


def build_write_form(page: StudioPage, job: Job) -> WriteScriptForm:
    """Return the script request form with the values of the last request, else of the preset."""
    topic = job.draft.settings.get("topic") or ("" if has_given_title(job) else job.title)
    initial = {
        "topic": topic,
        "duration": 60,
        **load_script_defaults(job),
        **page.last_script_request,
        "nonce": page.script_question.idempotency_key,
    }
    return choose_write_form(job, page.options, initial=initial)


def choose_write_form(
    job: Job, options: FacelessOptions, data: Any = None, *, initial: dict[str, Any] | None = None
) -> WriteScriptForm:
    """Return the form of a script from the web page that was read, or from a topic."""
    requires_words = requires_script_words(job)
    if not flow_of(job).reads_page:
        return WriteScriptForm(options, data, initial=initial, requires_words=requires_words)
    row = PageRead.objects.filter(job=job).first()
    return WritePageScriptForm(
        options,
        data,
        url=row.read_url if row else "",
        initial=initial,
        requires_words=requires_words,
    )


def has_given_title(job: Job) -> bool:
    """True if the portal named the draft, which then says nothing of its topic."""
    origin = draft_origin(job)
    return job.title == UNTITLED or (origin is not None and origin.preset_id is not None)


def parse_voice_filter(request: TeamRequest) -> VoiceFilter:
    words, language, gender = (
        request.GET.get(name, "").strip()[:100] for name in ("q", "language", "gender")
    )
    return VoiceFilter(words, language, gender)


def has_left_studio(job: Job) -> bool:
    """True if the video is rendered, is rendering, or its render may have been sent."""
    return job.state != JobState.DRAFT or has_active_render(job) or job.has_changed_state()


def redirect_to_video(request: TeamRequest, job: Job, *, explain: bool = False) -> HttpResponse:
    """Redirect to the video's page. `explain` adds a message that the input was not saved."""
    if explain:
        messages.info(
            request, "This video was sent, or waits for an approval. Your change was not saved."
        )
    return redirect_to(request, "video", job.pk)
