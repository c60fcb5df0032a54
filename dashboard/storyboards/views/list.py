"""The team's storyboards, and what is done with one from there: duplicate, delete, restore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.shared.access import fetch_deleted_storyboard, fetch_storyboard
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.lists import render_list
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.storyboards.actions import storyboards as actions
from dashboard.storyboards.queries.deletion import deletion_text
from dashboard.storyboards.queries.list import StoryboardFilters, load_storyboards
from proxyapi.refusals import Refusal

LIST_TEMPLATE = "storyboards/list.html"


@require_safe
@vary_on_headers("HX-Request")
def storyboards(request: TeamRequest) -> HttpResponse:
    filters = StoryboardFilters.parse(request.GET.dict())
    context = load_storyboards(request.membership, filters)
    return render_list(request, LIST_TEMPLATE, "storyboards/_list.html", context)


@require_POST
def duplicate(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    try:
        copy = actions.duplicate_storyboard(by=request.membership, storyboard=storyboard)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return redirect(safe_return_path(request, request.headers.get("Referer", "")))
    messages.success(request, f"“{copy.title}” was added. Its scenes have no clips yet.")
    return redirect_to(request, "storyboard", copy.pk)


class DeleteStoryboard(DialogView):
    template_name, page_template = "storyboards/_deletion.html", LIST_TEMPLATE
    back = "storyboards"

    def fetch(self, storyboard_id: UUID) -> None:
        self.storyboard = fetch_storyboard(self.request, storyboard_id, Permission.RENDER)

    def save(self, form: PortalForm) -> str:
        actions.delete_storyboard(by=self.by, storyboard=self.storyboard)
        self.undo_url = reverse("storyboard-restorations", args=[self.storyboard.pk])
        return f"“{self.storyboard.title}” is deleted."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"storyboard": self.storyboard, "text": deletion_text(self.storyboard)}

    def load_page(self) -> Mapping[str, Any]:
        return load_storyboards(self.by, StoryboardFilters())


@require_POST
def restore(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    storyboard = fetch_deleted_storyboard(request, storyboard_id)
    actions.restore_storyboard(by=request.membership, storyboard=storyboard)
    messages.success(request, f"“{storyboard.title}” is restored.")
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))
