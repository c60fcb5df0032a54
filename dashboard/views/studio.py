"""The studio: drafts, the six steps of a faceless video, its script, its price, its render.

Every page works as a plain form; with htmx a field is saved when it is left, and answers are parts.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from dashboard.access import check, fetch_job
from dashboard.actions import studio as actions
from dashboard.forms.studio import FORMS, NewForm, StepForm, WriteForm
from dashboard.http import TeamRequest
from dashboard.queries.studio import (
    Page,
    Slug,
    Wish,
    act_of,
    confirm_of,
    drafts_of,
    is_busy,
    options_in,
    page_of,
    price_of,
    voices_of,
    writing_of,
)
from dashboard.roles import Permission
from proxyapi.models import Job, JobState
from proxyapi.refusals import Refusal

LIST = "dashboard/studio/list.html"
STEP = "dashboard/studio/step.html"
VOICES = "dashboard/studio/steps/_voices.html"
WRITING = (
    "The service is writing the script. Your words are still below; save them when it is done."
)
UNUSABLE = 422


@require_GET
def studio(request: TeamRequest) -> HttpResponse:
    context = {"list": drafts_of(request.membership), "form": NewForm()}
    return render(request, LIST, context)


@require_POST
def drafts(request: TeamRequest) -> HttpResponse:
    check(request.membership, Permission.RENDER)
    form = NewForm(request.POST)
    if form.is_valid():
        try:
            job = actions.start_draft(
                by=request.membership, title=form.cleaned_data["title"], wanted=form.wanted()
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return redirect("studio-step", job.pk, Slug.TYPE)
    context = {"list": drafts_of(request.membership), "form": form}
    return render(request, LIST, context, status=UNUSABLE)


@require_http_methods(["GET", "POST"])
def step(request: TeamRequest, job_id: UUID, step: str) -> HttpResponse:
    slug = slug_of(step)
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.SEE)
    if is_closed(job):
        return away(request, job, told=posted)
    if not posted or slug not in FORMS:
        return show_step(request, job, slug)
    form = FORMS[slug](job, options_in(job.account.options), request.POST)
    if not form.is_valid():
        return HttpResponse(status=204) if request.htmx else show_step(request, job, slug, form)
    refusal = save(request, job, form)
    if not refusal and not request.htmx:
        return redirect("studio-step", job.pk, after(slug))
    job = fetch_job(request, job_id)
    form = form.redrawn(job) if refusal else FORMS[slug](job, form.options)
    if request.htmx:
        return show_saved(request, job, form, slug, refusal)
    return show_step(request, job, slug, form, refusal)


def save(request: TeamRequest, job: Job, form: StepForm) -> str:
    """Save the changed fields; answers why not, when somebody else was faster."""
    changes = form.changes()
    if not changes:
        return ""
    if "script" in changes and writing_of(job).blocks:
        return WRITING
    try:
        actions.save_step(
            by=request.membership, job=job, changes=changes, edited_at=form.drawn_at()
        )
    except Refusal as refusal:
        return refusal.sentence
    return ""


def after(slug: Slug) -> Slug:
    return list(Slug)[list(Slug).index(slug) + 1]


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
        context["form"] = FORMS[slug](job, page.options)
    if slug == Slug.SCRIPT:
        context.setdefault("write", write_form(page, job))
    if slug == Slug.VOICE:
        chosen = request.GET.get("voice_id") or context["form"]["voice_id"].value()
        context["voices"] = voices_of(job, page.options, wish_in(request), str(chosen or ""))
        if request.htmx:
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


@require_http_methods(["GET", "POST"])
def scripts(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Ask the service for a script; GET is the part of the page that waits for it."""
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.SEE)
    if is_closed(job):
        return away(request, job, told=posted)
    if not posted:
        return script_part(request, job)
    options = options_in(job.account.options)
    form = WriteForm(options, request.POST)
    refusal = ""
    if form.is_valid():
        try:
            actions.write_script(by=request.membership, job=job, **form.cleaned_data)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return script_part(request, fetch_job(request, job_id))
    if request.htmx:
        return script_part(request, job, write=form, refusal=refusal)
    return show_step(request, job, Slug.SCRIPT, None, refusal, write=form)


def script_part(request: TeamRequest, job: Job, **more: Any) -> HttpResponse:
    if not request.htmx:
        return redirect("studio-step", job.pk, Slug.SCRIPT)
    page = page_of(job, request.membership, Slug.SCRIPT)
    context = {"page": page, "form": FORMS[Slug.SCRIPT](job, page.options), "oob": True, **more}
    context.setdefault("write", write_form(page, job))
    return render(request, "dashboard/studio/steps/script.html", context)


def write_form(page: Page, job: Job) -> WriteForm:
    first = {"topic": job.wanted.get("topic") or job.title, "duration": 60, "nonce": page.nonce}
    return WriteForm(page.options, initial=first)


@require_http_methods(["GET", "POST"])
def price(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The price card as it stands in our own database; POST has it asked again, free of charge."""
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.SEE)
    if posted:
        actions.ask_price(by=request.membership, job=job)
    if not request.htmx:
        return redirect("studio-step", job.pk, Slug.REVIEW)
    found = price_of(job)
    context = {"price": found, "act": act_of(found, request.membership), "fetched": True}
    part = "_act.html" if request.GET.get("part") == "act" else "_price.html"
    return render(request, f"dashboard/studio/{part}", context)


@require_http_methods(["GET", "POST"])
def renders(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The question with the price; POST holds the credits, sends, and goes to the video."""
    job = fetch_job(request, job_id, Permission.RENDER)
    refusal, nonce = "", None
    if request.method == "POST":
        nonce = nonce_in(request)
        try:
            actions.render(by=request.membership, job=job, nonce=nonce)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return away(request, job)
    elif is_closed(job):
        return away(request, job)
    confirm = confirm_of(job, refusal, nonce)
    if request.htmx:
        context = {"confirm": confirm, "fragment": True}
        return render(request, "dashboard/studio/_confirm.html", context)
    return show_step(request, job, Slug.REVIEW, None, confirm.refusal, confirm=confirm)


def nonce_in(request: TeamRequest) -> UUID:
    """A form without its nonce is not ours: it could charge twice."""
    try:
        return UUID(request.POST.get("nonce", ""))
    except ValueError:
        raise Http404("This form is too old. Open the draft again.") from None


def slug_of(step: str) -> Slug:
    try:
        return Slug(step)
    except ValueError:
        raise Http404("The studio has no such step.") from None


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
        messages.info(request, "This video is being rendered. Its settings stay as they are.")
    if request.htmx:
        return HttpResponseClientRedirect(resolve_url("video", job.pk))
    return redirect("video", job.pk)
