"""The steps of a draft: each is a page, saved by its button or field by field."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.flows import FLOWS, StepSlug, flow_of, settings_put_aside
from dashboard.studio.forms import StepForm, build_step_form
from dashboard.studio.queries import account_options, script_request_status
from dashboard.studio.views.responses import (
    fetch_studio_job,
    has_left_studio,
    redirect_to_video,
    render_saved_field,
    render_step_page,
)
from proxyapi.models import Job
from proxyapi.refusals import Refusal

SCRIPT_IN_PROGRESS_TEXT = (
    "The service is writing the script. Your text is still below. Save it when the script is done."
)


@allow_get_or_post
def draft_step(request: TeamRequest, job_id: UUID, step: str) -> HttpResponse:
    posted = request.method == "POST"
    job = fetch_studio_job(request, job_id, Permission.RENDER if posted else Permission.VIEW)
    slug = parse_step_slug(step, job)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=posted)
    if not posted or slug == StepSlug.REVIEW:
        return render_step_page(request, job, slug)
    options = account_options(job.account)
    is_field = bool(request.htmx)
    form = build_step_form(job, slug, options, request.POST, is_partial=is_field)
    if not form.is_valid():
        if request.htmx:
            return render_saved_field(request, job, form, slug, form.first_error())
        return render_step_page(request, job, slug, form, form.form_error())
    refusal = save_changed_fields(request, job, form)
    if not refusal and not request.htmx:
        return redirect("studio-step", job.pk, flow_of(job).next_slug(slug))
    job = fetch_studio_job(request, job_id)
    form = form.with_current_version(job) if refusal else build_step_form(job, slug, form.options)
    if request.htmx:
        return render_saved_field(request, job, form, slug, refusal)
    return render_step_page(request, job, slug, form, refusal)


def save_changed_fields(request: TeamRequest, job: Job, form: StepForm) -> str:
    """Save the changed fields; return the reason if they were refused, else ""."""
    changes = form.changes()
    if not changes:
        return ""
    if "script" in changes and script_request_status(job).blocks_new_script:
        return SCRIPT_IN_PROGRESS_TEXT
    removed = settings_put_aside(job, changes["type"]) if "type" in changes else []
    try:
        actions.save_draft_step(
            by=request.membership, job=job, changes=changes, edited_at=form.base_edited_at()
        )
    except Refusal as refusal:
        return refusal.sentence
    if removed:
        nouns = ", ".join(setting.noun for setting in removed)
        label = FLOWS[changes["type"]].label
        messages.info(request, f"Removed because {label} does not use it: {nouns}.")
    return ""


def parse_step_slug(step: str, job: Job) -> StepSlug:
    if step not in flow_of(job).steps_by_slug:
        raise Http404("This type of video does not have this step.")
    return StepSlug(step)
