"""Views of the exports of a video: the list, the dialog of a new one, the player of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.parts import actions
from dashboard.parts.forms import ExportForm
from dashboard.parts.queries.export_style import (
    brand_kit_style,
    initial_export_style,
    preview_picture_url,
    preview_words,
)
from dashboard.parts.queries.exports import load_exports
from dashboard.parts.queries.questions import build_export_question
from dashboard.parts.queries.scenes import PressedButton
from dashboard.parts.views.dialogs import DIALOG_PAGE_TEMPLATE, render_part_dialog
from dashboard.shared.access import fetch_job, fetch_part
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.price_question import ConfirmForm, PriceQuestion
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import parse_faceless_options
from proxyapi.models import JobKind, JobPart
from proxyapi.models.job_part import EXPORTS, PartState
from proxyapi.refusals import Refusal

LIST_TEMPLATE, PAGE_TEMPLATE = "parts/_exports.html", "parts/exports.html"
NO_EXPORTS_TEXT = "The service exports only faceless videos."
NOT_MADE_HERE_TEXT = "This export was not made in the portal, so its settings are not known here."


@require_safe
@vary_on_headers("HX-Request")
def exports(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_job(request, job_id)
    page = load_exports(job, request.membership)
    return render(request, LIST_TEMPLATE if request.htmx else PAGE_TEMPLATE, {"page": page})


class NewExport(ChargeDialog):
    """The captions of the export and its price."""

    page_template = DIALOG_PAGE_TEMPLATE

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_job(self.request, job_id, Permission.RENDER)
        if self.job.kind != JobKind.FACELESS:
            raise Http404(NO_EXPORTS_TEXT)
        self.back = reverse("video", args=[self.job.pk])
        self.kit = brand_kit_style(self.request.team)
        self.style = self.build_style_form()

    def build_style_form(self) -> ExportForm:
        like = parse_uuid(self.request.GET.get("like", ""))
        style = initial_export_style(self.job, self.request.user, like)
        if "kit" in self.request.GET:
            style = {**style, **self.kit}
        options = parse_faceless_options(self.job.account.options)
        return ExportForm(options, style, self.request.POST if self.request.POST else None)

    def charge(self, **confirmed: Any) -> None:
        if not self.style.is_valid():
            raise Refusal(self.style.first_error())
        style = self.style.export_style()
        actions.export_video(by=self.by, job=self.job, style=style, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_export_question(self.job, self.by)

    def load_dialog(self) -> Mapping[str, Any]:
        return {
            **super().load_dialog(),
            "style": self.style,
            "preview_words": preview_words(self.job),
            "preview_url": preview_picture_url(self.job),
            "kit_url": f"{self.request.path}?kit=1" if self.kit else "",
        }

    def load_page(self) -> Mapping[str, Any]:
        return {"job": self.job}


@require_POST
def repeat_export(request: TeamRequest, job_id: UUID, part_id: UUID) -> HttpResponse:
    """Export again with the captions of a failed export, at the price of the pressed button."""
    job, part = fetch_part(request, job_id, part_id, Permission.RENDER)
    pressed = None
    try:
        arguments = ConfirmForm(request.POST).charge_arguments()
        style = export_style_of(part)
        actions.export_video(by=request.membership, job=job, style=style, **arguments)
    except Refusal as refused:
        pressed = PressedButton(part.pk, refused)
    if not request.htmx and pressed is None:
        return redirect_to(request, "video", job.pk)
    page = load_exports(job, request.membership, pressed)
    return render(request, LIST_TEMPLATE if request.htmx else PAGE_TEMPLATE, {"page": page})


def export_style_of(part: JobPart) -> dict[str, object]:
    if part.list_name != EXPORTS or part.charge is None:
        raise Refusal(NOT_MADE_HERE_TEXT)
    return dict(part.charge.body)


@require_safe
def export(request: TeamRequest, job_id: UUID, part_id: UUID) -> HttpResponse:
    """Show the player of a finished export."""
    job, part = fetch_part(request, job_id, part_id)
    if part.list_name != EXPORTS or part.state != PartState.COMPLETED:
        raise Http404("There is no video file yet.")
    media_url = reverse("part-media", args=[job.pk, part.pk])
    context = {"title": job.title, "media_url": media_url, "video_url": video_url(job.pk)}
    return render_part_dialog(request, job, "parts/_export_player.html", context)


def video_url(job_id: UUID) -> str:
    return reverse("video", args=[job_id])
