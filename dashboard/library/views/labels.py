"""The list of labels, and its changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.library import actions
from dashboard.library.queries.labels import (
    label_removal_text,
    load_labels_page,
    video_count_text,
)
from dashboard.models.label import MAX_LABEL_NAME_CHARS
from dashboard.shared.access import check_permission, fetch_label
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, NAME_TEMPLATE = "library/labels/page.html", "library/labels/_name.html"
INVALID_FORM_STATUS = 422


@require_safe
def labels(request: TeamRequest) -> HttpResponse:
    return render(request, PAGE_TEMPLATE, {"page": load_labels_page(request.membership)})


@allow_get_or_post
def add_label(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.RENDER)
    name, refusal = request.POST.get("name", ""), ""
    if request.method == "POST":
        try:
            label = actions.find_or_create_label(by=request.membership, name=name)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            messages.success(request, f"Label “{label.name}” added.")
            return redirect_to(request, "labels")
    return render_label_dialog(request, NAME_TEMPLATE, {"name": name, "refusal": refusal})


@allow_get_or_post
def rename_label(request: TeamRequest, label_id: UUID) -> HttpResponse:
    label, refusal = fetch_label(request, label_id), ""
    name = label.name
    if request.method == "POST":
        name = request.POST.get("name", "")
        try:
            actions.rename_label(by=request.membership, label=label, name=name)
        except Refusal as refused:
            label, refusal = fetch_label(request, label_id), refused.sentence
        else:
            return redirect_to(request, "labels")
    context = {"label": label, "name": name, "refusal": refusal}
    return render_label_dialog(request, NAME_TEMPLATE, context)


class DeleteLabel(DialogView):
    """Ask first, because it cannot be undone; the videos stay."""

    template_name, page_template, back = "library/labels/_remove.html", PAGE_TEMPLATE, "labels"

    def fetch(self, label_id: UUID) -> None:
        self.label = fetch_label(self.request, label_id)

    def save(self, form: PortalForm) -> str:
        count = actions.delete_label(by=self.by, label=self.label)
        stay = f" {video_count_text(count)} had it and are kept." if count else ""
        return f"Label “{self.label.name}” deleted.{stay}"

    def load_dialog(self) -> Mapping[str, Any]:
        return {"label": self.label, "sentence": label_removal_text(self.label)}

    def load_page(self) -> Mapping[str, Any]:
        return {"page": load_labels_page(self.by)}


def render_label_dialog(request: TeamRequest, dialog: str, context: dict[str, Any]) -> HttpResponse:
    """Render the dialog alone for htmx; without scripts, the page with the dialog open."""
    context = {**context, "max_name_chars": MAX_LABEL_NAME_CHARS}
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = {"page": load_labels_page(request.membership), "dialog": dialog}
    status = INVALID_FORM_STATUS if context.get("refusal") else 200
    return render(request, PAGE_TEMPLATE, {**page, **context}, status=status)
