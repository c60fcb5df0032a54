"""A script from the service: asked for at its price, waited for by a part of the page."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse

from dashboard.access import fetch_job
from dashboard.actions import studio as actions
from dashboard.caps import OverBudget
from dashboard.forms.studio import FORMS, StepForm, WriteForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest
from dashboard.queries.studio import Options, Slug, options_in
from dashboard.roles import Permission
from dashboard.views.studio.answers import away, is_closed, script_part, show_step
from proxyapi.models import Job
from proxyapi.refusals import Refusal


@ASKS_OR_ACTS
def scripts(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Ask the service for a script; GET is the part of the page that waits for it."""
    posted = request.method == "POST"
    job = fetch_job(request, job_id, Permission.RENDER if posted else Permission.SEE)
    if is_closed(job):
        return away(request, job, told=posted)
    if not posted:
        return script_part(request, job)
    options = options_in(job.account.options)
    write = WriteForm(options, request.POST)
    refusal, over = write.form_error(), False
    if write.is_valid():
        try:
            words, asked = "" if "ask" in request.POST else None, write.asked_for()
            actions.write_script(by=request.membership, job=job, words=words, **asked)
        except Refusal as refused:
            refusal, over = refused.sentence, isinstance(refused, OverBudget)
        else:
            return script_part(request, fetch_job(request, job_id), again=True)
    own = unsaved(request, job, options)
    if request.htmx:
        return script_part(request, job, form=own, write=write, refusal=refusal, over=over)
    return show_step(request, job, Slug.SCRIPT, own, refusal, write=write, over=over)


def unsaved(request: TeamRequest, job: Job, options: Options) -> StepForm | None:
    """The own words that came along (hx-include), if the draft does not hold them: they stay."""
    if "script" not in request.POST:
        return None
    form = FORMS[Slug.SCRIPT](job, options, request.POST)
    words = form.fields["script"].to_python
    return None if words(request.POST["script"]) == words(job.wanted.get("script")) else form
