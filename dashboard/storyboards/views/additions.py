"""Add the prompt of a clip to a storyboard."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.shared.access import fetch_clip, fetch_storyboard
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.roles import Permission
from dashboard.storyboards.actions.additions import add_clip_to_storyboard
from dashboard.storyboards.forms.addition import AdditionForm
from dashboard.storyboards.queries.additions import load_clip_addition
from proxyapi.models import Job
from proxyapi.refusals import Refusal

ADDITION_TEMPLATE = "storyboards/_addition.html"
ADDITION_PAGE_TEMPLATE = "storyboards/addition_page.html"


@allow_get_or_post
def add_clip(request: TeamRequest, clip_id: UUID) -> HttpResponse:
    """Show the team's storyboards; POST adds a scene to one of them or to a new one."""
    job = fetch_clip(request, clip_id, Permission.RENDER)
    if request.method != "POST":
        return render_addition(request, job)
    form = AdditionForm(request.POST)
    if not form.is_valid():
        return render_addition(request, job, form.first_error())
    data = form.cleaned_data
    storyboard = data["storyboard"] and fetch_storyboard(
        request, data["storyboard"], Permission.RENDER
    )
    try:
        scene = add_clip_to_storyboard(
            by=request.membership,
            job=job,
            storyboard=storyboard,
            scene_id=data["scene"],
            starts_on_picture=data["picture"],
        )
    except Refusal as refused:
        return render_addition(request, job, refused.sentence)
    messages.success(request, f"“{job.title}” was added as scene {scene.position}.")
    url = reverse("storyboard", args=[scene.storyboard_id])
    return redirect_to(request, f"{url}?scene={scene.pk}")


def render_addition(request: TeamRequest, job: Job, refusal: str = "") -> HttpResponse:
    """Render the dialog alone for htmx; without scripts, a page with the dialog open."""
    context = {
        "job": job,
        "addition": load_clip_addition(request.membership, job),
        "refusal": refusal,
        "chosen": request.POST.get("storyboard", ""),
        "picture": "picture" in request.POST,
    }
    if request.htmx:
        return render(request, ADDITION_TEMPLATE, {**context, "fragment": True})
    return render(request, ADDITION_PAGE_TEMPLATE, context, status=422 if refusal else 200)
