"""The six steps of a draft: each is a page, saved by a press or field by field."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from dashboard.access import fetch_job
from dashboard.actions import studio as actions
from dashboard.forms.studio import FORMS, StepForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.queries.studio import Slug, options_in, writing_of
from dashboard.roles import Permission
from dashboard.views.studio.answers import away, is_closed, show_saved, show_step
from proxyapi.models import Job
from proxyapi.refusals import Refusal

WRITING = (
    "The service is writing the script. Your words are still below; save them when it is done."
)


@ASKS_OR_ACTS
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
        if request.htmx:
            return show_saved(request, job, form, slug, form.first_error())
        return show_step(request, job, slug, form, form.form_error())
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


def slug_of(step: str) -> Slug:
    try:
        return Slug(step)
    except ValueError:
        raise Http404("The studio has no such step.") from None
