"""The steps of a draft: each is a page, saved by its button or field by field."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.flows import (
    FLOWS,
    StepSlug,
    flow_of,
    settings_put_aside,
    type_refusal,
)
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

PUT_ASIDE_KEY = "put_aside"  # in the session: what the last change of a type put aside
PUT_ASIDE_TEXT = "Put aside because {label} does not use it: {nouns}."
NOTHING_TO_UNDO = "There is nothing to undo."
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
    old_type = flow_of(job).type
    refusal = save_changed_fields(request, job, form)
    if not refusal and not is_field:
        return redirect("studio-step", job.pk, flow_of(job).next_slug(slug))
    job = fetch_studio_job(request, job_id)
    form = form.with_current_version(job) if refusal else build_step_form(job, slug, form.options)
    if is_field:
        has_new_type = flow_of(job).type != old_type
        return render_saved_field(request, job, form, slug, refusal, has_new_type=has_new_type)
    return render_step_page(request, job, slug, form, refusal)


def save_changed_fields(request: TeamRequest, job: Job, form: StepForm) -> str:
    """Save the changed fields; return the reason if they were refused, else ""."""
    changes = form.changes()
    if not changes:
        return ""
    if "script" in changes and script_request_status(job).blocks_new_script:
        return SCRIPT_IN_PROGRESS_TEXT
    before, removed = job.draft.settings, []
    if "type" in changes and not type_refusal(job, changes["type"]):
        removed = settings_put_aside(job, changes["type"])
    try:
        actions.save_draft_step(
            by=request.membership, job=job, changes=changes, edited_at=form.base_edited_at()
        )
    except Refusal as refusal:
        return refusal.sentence
    if removed:
        put_aside = {name: before[name] for name in ("type", *(one.name for one in removed))}
        request.session[PUT_ASIDE_KEY] = {"job": str(job.pk), "settings": put_aside}
        text = PUT_ASIDE_TEXT.format(
            label=FLOWS[changes["type"]].label, nouns=", ".join(one.noun for one in removed)
        )
        messages.info(request, text, extra_tags=reverse("studio-type-undo", args=[job.pk]))
    return ""


@require_POST
def undo_type_change(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Give the draft its former type and the settings that the change put aside."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    stored = request.session.pop(PUT_ASIDE_KEY, None)
    if not stored or stored["job"] != str(job.pk):
        messages.info(request, NOTHING_TO_UNDO)
        return redirect("studio-step", job.pk, StepSlug.TYPE)
    try:
        actions.save_draft_step(by=request.membership, job=job, changes=stored["settings"])
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return redirect("studio-step", job.pk, StepSlug.TYPE)


def parse_step_slug(step: str, job: Job) -> StepSlug:
    if step not in flow_of(job).steps_by_slug:
        raise Http404("This type of video does not have this step.")
    return StepSlug(step)
