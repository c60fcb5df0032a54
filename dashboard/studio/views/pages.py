"""The web page of a draft: its reading, and the order of its images."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.flows import StepSlug, flow_of
from dashboard.studio.forms import PageReadForm
from dashboard.studio.queries import load_page_source, load_studio_page
from dashboard.studio.views.responses import (
    fetch_studio_job,
    has_left_studio,
    redirect_to_video,
    render_source_part,
    render_step_page,
)
from proxyapi.models import Job
from proxyapi.refusals import Refusal


@allow_get_or_post
def page_read(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Request the images of a page, or stop a request; GET renders the part that shows it."""
    posted = request.method == "POST"
    job = fetch_page_job(request, job_id, Permission.RENDER if posted else Permission.VIEW)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=posted)
    if not posted:
        return render_source_part(request, job)
    if "stop" in request.POST:
        actions.stop_reading(by=request.membership, job=job)
        return render_source_part(request, job)
    form = PageReadForm(request.POST)
    asks_again = False
    if form.is_valid():
        asks_again = load_page_source(job).is_arranged and not form.cleaned_data["again"]
        if not asks_again:
            try:
                actions.read_web_page(by=request.membership, job=job, url=form.cleaned_data["url"])
            except Refusal as refusal:
                form.add_error("url", refusal.sentence)
            else:
                return render_source_part(request, job, sent=True)
    if request.htmx:
        return render_source_part(request, job, form, asks_again=asks_again)
    return render_step_page(request, job, StepSlug.SOURCE, read=form, asks_again=asks_again)


@require_POST
def arrange_page_images(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Save the order of the images. Without script a button moves one image (`move`)."""
    job = fetch_page_job(request, job_id, Permission.RENDER)
    if has_left_studio(job):
        return redirect_to_video(request, job, explain=True)
    before, refusal = load_page_source(job), ""
    wanted = move_image(request.POST.getlist("assets"), request.POST.get("move", ""))
    try:
        seen = request.POST.get("seen", "")
        actions.arrange_images(by=request.membership, job=job, wanted=wanted, seen=seen)
    except Refusal as refused:
        refusal = refused.sentence
    if not request.htmx:
        if refusal:
            messages.error(request, refusal)
        return redirect("studio-step", job.pk, StepSlug.SOURCE)
    job = fetch_studio_job(request, job_id)
    if refusal or "undo" in request.POST:
        response = render_source_part(request, job, not_arranged=refusal)
        return retarget(reswap(response, "outerHTML"), "#source")
    page = load_studio_page(job, request.membership, StepSlug.SOURCE)
    context = {"page": page, "before": before, "oob": True}
    return render(request, "studio/steps/source/arranged.html", context)


def move_image(ids: list[str], move: str) -> list[str]:
    """Return the ids after a press of a button: `earlier`, `later`, `remove` or `use`, a colon and
    the id."""
    action, _, id = move.partition(":")
    others = [other for other in ids if other != id]
    if action in ("remove", "use"):
        return others if action == "remove" else [*others, id]
    if id not in ids or action not in ("earlier", "later"):
        return ids
    place = max(0, ids.index(id) + (1 if action == "later" else -1))
    return [*others[:place], id, *others[place:]]


def fetch_page_job(request: TeamRequest, job_id: UUID, permission: Permission) -> Job:
    job = fetch_studio_job(request, job_id, permission)
    if not flow_of(job).reads_page:
        raise Http404("This type of video is not made from a web page.")
    return job
