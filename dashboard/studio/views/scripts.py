"""Script requests: submitted at their price, then polled by a part of the page."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.flows import flow_of
from dashboard.studio.forms import StepForm, build_step_form
from dashboard.studio.queries import (
    FacelessOptions,
    account_options,
    script_request_status,
)
from dashboard.studio.views.responses import (
    choose_write_form,
    fetch_studio_job,
    has_left_studio,
    redirect_to_video,
    render_script_part,
    render_step_page,
)
from proxyapi.models import Job, ScriptVersion
from proxyapi.refusals import Refusal

UNSAVED_TEXT = (
    "Not restored. Your text below is not saved, so it would be lost. Correct it, or remove it."
)
SCRIPT_IN_PROGRESS = "Not restored. A script is being written and would replace it."


@allow_get_or_post
def request_script(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Request a script from the service; GET renders the part of the page that polls for it."""
    posted = request.method == "POST"
    job = fetch_studio_job(request, job_id, Permission.RENDER if posted else Permission.VIEW)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=posted)
    if not posted:
        return render_script_part(request, job)
    options = account_options(job.account)
    write = choose_write_form(job, options, request.POST)
    refusal, refused = write.form_error(), None
    if write.is_valid():
        try:
            chosen = write.script_request()
            actions.write_script(
                by=request.membership, job=job, chosen=chosen, **write.charge_arguments()
            )
        except Refusal as error:
            refusal, refused = error.sentence, error
        else:
            return render_script_part(request, fetch_studio_job(request, job_id), again=True)
    own_script = unsaved_script_form(request, job, options)
    if request.htmx:
        return render_script_part(
            request, job, form=own_script, write=write, refusal=refusal, refused=refused
        )
    return render_step_page(
        request, job, flow_of(job).script_slug, own_script, refusal, write=write, refused=refused
    )


@require_POST
def restore_script_version(request: TeamRequest, job_id: UUID, version_id: int) -> HttpResponse:
    """Make an earlier script the current one, unless the page has text that is not saved."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    version = fetch_script_version(job, version_id)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=True)
    own_script = unsaved_script_form(request, job, account_options(job.account))
    refusal = UNSAVED_TEXT if own_script else ""
    if script_request_status(job).blocks_new_script:
        refusal = SCRIPT_IN_PROGRESS
    if not refusal:
        try:
            actions.restore_script(by=request.membership, job=job, version=version)
        except Refusal as refused:
            refusal = refused.sentence
    job = fetch_studio_job(request, job_id)
    if request.htmx:
        return render_script_part(
            request, job, form=own_script, restored=not refusal, not_restored=refusal
        )
    if not refusal:
        return redirect("studio-step", job.pk, flow_of(job).script_slug)
    return render_step_page(request, job, flow_of(job).script_slug, own_script, refusal)


def fetch_script_version(job: Job, version_id: int) -> ScriptVersion:
    version = job.script_versions.filter(pk=version_id).first()
    if version is None:
        raise Http404("This draft has no such script.")
    return version


def unsaved_script_form(
    request: TeamRequest, job: Job, options: FacelessOptions
) -> StepForm | None:
    """Return the script text that htmx sent along (hx-include) if the draft does not have it, so
    that it is kept."""
    if "script" not in request.POST:
        return None
    form = build_step_form(job, flow_of(job).script_slug, options, request.POST)
    to_text, saved = form.fields["script"].to_python, job.draft.settings.get("script")
    return None if to_text(request.POST["script"]) == to_text(saved) else form
