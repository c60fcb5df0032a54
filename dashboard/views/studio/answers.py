"""What the studio answers: a whole page, or with htmx the parts of it that changed.

Every page works as a plain form; with htmx a field is saved when it is left.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from dashboard.forms.studio import FORMS, StepForm, WriteForm
from dashboard.http import TeamRequest, go_to
from dashboard.queries.studio import Page, Slug, Wish, is_busy, page_of, voices_of
from proxyapi.models import Job, JobState

STEP = "dashboard/studio/step.html"
VOICES = "dashboard/studio/steps/_voices.html"
UNUSABLE = 422


def show_step(
    request: TeamRequest,
    job: Job,
    slug: Slug,
    form: StepForm | None = None,
    refusal: str = "",
    **more: Any,
) -> HttpResponse:
    """The whole page of a step; a refused or unusable form comes back with what was typed."""
    page = page_of(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal, **more}
    if form is None and slug in FORMS:
        context["form"] = FORMS[slug](job, page.options).with_service_errors()
    if slug == Slug.SCRIPT:
        context.setdefault("write", write_form(page, job))
    if slug == Slug.VOICE:
        chosen = request.GET.get("voice_id") or context["form"]["voice_id"].value()
        context["voices"] = voices_of(job, page.options, wish_in(request), str(chosen or ""))
        if request.htmx.target == "voices":
            return render(request, VOICES, {**context, "fragment": True})
    bad = refusal or any(it is not None and it.errors for it in (form, more.get("write")))
    return render(request, STEP, context, status=UNUSABLE if bad else 200)


def show_saved(
    request: TeamRequest, job: Job, form: StepForm, slug: Slug, refusal: str = ""
) -> HttpResponse:
    """What a saved field changes around its form: spine, price, button, the form's marks."""
    page = page_of(job, request.membership, slug)
    context = {"page": page, "form": form, "refusal": refusal}
    return render(request, "dashboard/studio/_saved.html", context)


def script_part(
    request: TeamRequest, job: Job, form: StepForm | None = None, **more: Any
) -> HttpResponse:
    """The part of the page with both cards. `form` holds own words that were not saved."""
    if not request.htmx:
        return redirect("studio-step", job.pk, Slug.SCRIPT)
    page = page_of(job, request.membership, Slug.SCRIPT)
    drawn = form or FORMS[Slug.SCRIPT](job, page.options).with_service_errors()
    context = {"page": page, "form": drawn, "oob": True, **more}
    context.setdefault("write", write_form(page, job))
    return render(request, "dashboard/studio/steps/script.html", context)


def write_form(page: Page, job: Job) -> WriteForm:
    """Drawn with what the last script was asked for with, if one was."""
    first = {"topic": job.wanted.get("topic") or job.title, "duration": 60}
    return WriteForm(page.options, initial={**first, **page.asked_with, "nonce": page.nonce})


def wish_in(request: TeamRequest) -> Wish:
    words, language, gender = (
        request.GET.get(name, "").strip()[:100] for name in ("q", "language", "gender")
    )
    return Wish(words, language, gender)


def is_closed(job: Job) -> bool:
    """Whether it left the studio: rendered, rendering, or a render may be on its way."""
    return job.state != JobState.DRAFT or is_busy(job)


def away(request: TeamRequest, job: Job, *, told: bool = False) -> HttpResponse:
    """To the page of the video. `told` says why what was sent is not kept."""
    if told:
        messages.info(request, "This video is on its way. Its settings stay as they are.")
    return go_to(request, "video", job.pk)
