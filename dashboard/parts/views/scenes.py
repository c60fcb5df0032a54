"""Views of the scenes of a video: the page, a new image, own media, and the render that shows
them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.parts import actions
from dashboard.parts.forms import OwnMediaForm
from dashboard.parts.queries.questions import build_new_render_question
from dashboard.parts.queries.scenes import PressedButton, load_scenes_page
from dashboard.parts.views.dialogs import DIALOG_PAGE_TEMPLATE, render_part_dialog
from dashboard.shared.access import fetch_job, fetch_part
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import ConfirmForm, PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.uploads.media_files import ACCEPTED_FORMATS, MAX_MEDIA_FILE_BYTES
from dashboard.shared.videos.parts import has_scenes
from proxyapi.models import Job
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, FRAGMENT_TEMPLATE = "parts/scenes.html", "parts/_scenes.html"
OWN_MEDIA_TEMPLATE = "parts/_own_media.html"
NO_SCENES_TEXT = "This video has no images that can be changed one by one."
MEDIA_SENT_TEXT = "Your picture or film is being sent to the service."


@require_safe
@vary_on_headers("HX-Request")
def scenes(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the page; `?part=news` returns what a push would contain, and htmx gets the list."""
    job = fetch_scenes_job(request, job_id)
    if request.GET.get("part") == "news":
        return render(request, "parts/_changes.html", {"part_job_ids": [job.pk]})
    template = FRAGMENT_TEMPLATE if request.htmx else PAGE_TEMPLATE
    return render(request, template, {"page": load_scenes_page(job, request.membership)})


@require_POST
def new_image(request: TeamRequest, job_id: UUID, part_id: UUID) -> HttpResponse:
    """Request another image for a scene, at the price of the pressed button."""
    job, part = fetch_part(request, job_id, part_id, Permission.RENDER)
    pressed = None
    try:
        arguments = ConfirmForm(request.POST).charge_arguments()
        actions.request_new_image(by=request.membership, job=job, part=part, **arguments)
    except Refusal as refused:
        pressed = PressedButton(part.pk, refused)
    else:
        if not request.htmx:
            return redirect_to(request, "scenes", job.pk)
    page = load_scenes_page(job, request.membership, pressed)
    return render(request, FRAGMENT_TEMPLATE if request.htmx else PAGE_TEMPLATE, {"page": page})


@allow_get_or_post
def own_media(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show the dialog; POST checks the file or address and sends it to the service."""
    job = fetch_scenes_job(request, job_id, Permission.RENDER)
    form, refusal = OwnMediaForm(), ""
    if request.method == "POST":
        form = OwnMediaForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                actions.add_own_media(by=request.membership, job=job, **form.own_media())
            except Refusal as refused:
                refusal = refused.sentence
            else:
                messages.info(request, MEDIA_SENT_TEXT)
                return redirect_to(request, "scenes", job.pk)
        refusal = refusal or form.form_error()
    context = {
        "form": form,
        "refusal": refusal,
        "url": request.path,
        "fresh_key": uuid4(),
        "cancel_url": reverse("scenes", args=[job.pk]),
        "formats": ACCEPTED_FORMATS,
        "max_bytes": MAX_MEDIA_FILE_BYTES,
        "ratio": job.chosen_settings.get("aspect_ratio") or "",
    }
    return render_part_dialog(request, job, OWN_MEDIA_TEMPLATE, context)


class RenderAgain(ChargeDialog):
    page_template = DIALOG_PAGE_TEMPLATE

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_scenes_job(self.request, job_id, Permission.RENDER)
        self.back = reverse("video", args=[self.job.pk])

    def charge(self, **confirmed: Any) -> None:
        actions.render_video_again(by=self.by, job=self.job, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_new_render_question(self.job, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return {"job": self.job}


def fetch_scenes_job(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    job = fetch_job(request, job_id, permission)
    if not has_scenes(job):
        raise Http404(NO_SCENES_TEXT)
    return job
