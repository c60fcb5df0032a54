"""Write and render: one question before a script and the render that starts after it."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.roles import Permission
from dashboard.studio import planned_renders
from dashboard.studio.flows import flow_of
from dashboard.studio.forms import PlannedRenderForm, WriteScriptForm
from dashboard.studio.queries import account_options, build_planned_render_question
from dashboard.studio.views.responses import (
    choose_write_form,
    fetch_studio_job,
    has_left_studio,
    redirect_to_video,
    render_script_part,
    render_step_page,
)
from proxyapi.models import Job
from proxyapi.refusals import Refusal, StaleData

QUESTION_TEMPLATE = "components/price_question.html"


@require_POST
def plan_render(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Ask for the price of a script and its render; the answer (`limit`) confirms both, and `stop`
    ends a plan."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=True)
    if "stop" in request.POST:
        return stop_planned_render(request, job)
    write, refusal, slug = (
        choose_write_form(job, account_options(job.account), request.POST),
        "",
        flow_of(job).script_slug,
    )
    if not write.is_valid():
        if not request.htmx:
            return render_step_page(request, job, slug, None, write.form_error(), write=write)
        part = render_script_part(request, job, write=write, refusal=write.form_error())
        return retarget(reswap(part, "outerHTML"), "#script")
    if "limit" in request.POST:
        try:
            confirm_plan(request, job, write)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return redirect_to(request, "studio-step", job.pk, slug)
    question = build_planned_render_question(
        job, request.membership, write.script_request(), refusal, write.idempotency_key
    )
    if request.htmx:
        return render(request, QUESTION_TEMPLATE, {"question": question, "fragment": True})
    dialog = {"question": question, "dialog": QUESTION_TEMPLATE}
    return render_step_page(request, job, slug, None, refusal, write=write, **dialog)


def confirm_plan(request: TeamRequest, job: Job, write: WriteScriptForm) -> None:
    """Request the script and plan the render, as they were shown. Raises `Refusal`."""
    shown = PlannedRenderForm(request.POST)
    if not shown.is_valid():
        raise Refusal(shown.first_error())
    planned_renders.plan_render(
        by=request.membership,
        job=job,
        nonce=write.idempotency_key,
        seen=shown.cleaned_data["script_price"],
        chosen=write.script_request(),
        limit=shown.cleaned_data["limit"],
        digest=shown.cleaned_data["settings"],
    )


def stop_planned_render(request: TeamRequest, job: Job) -> HttpResponse:
    try:
        planned_renders.stop_planned_render(by=request.membership, job=job)
    except StaleData:
        job = fetch_studio_job(request, job.pk)
        if has_left_studio(job):
            return redirect_to_video(request, job)
    return render_script_part(request, fetch_studio_job(request, job.pk))
