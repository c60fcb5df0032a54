"""The list of labels, and its changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.library import actions
from dashboard.library.forms import LabelNameForm
from dashboard.library.queries.labels import (
    label_removal_text,
    load_labels_page,
    video_count_text,
)
from dashboard.shared.access import check_permission, fetch_label
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission

PAGE_TEMPLATE = "library/labels/page.html"


@require_safe
def labels(request: TeamRequest) -> HttpResponse:
    return render(request, PAGE_TEMPLATE, {"page": load_labels_page(request.membership)})


class LabelsDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "labels"

    def load_page(self) -> Mapping[str, Any]:
        return {"page": load_labels_page(self.by)}


class AddLabel(LabelsDialog):
    template_name, form_class = "library/labels/_name.html", LabelNameForm

    def fetch(self) -> None:
        check_permission(self.by, Permission.RENDER)

    def save(self, form: PortalForm) -> str:
        label = actions.find_or_create_label(by=self.by, name=form.cleaned_data["name"])
        return f"Label “{label.name}” added."


class RenameLabel(LabelsDialog):
    template_name = "library/labels/_name.html"

    def fetch(self, label_id: UUID) -> None:
        self.label = fetch_label(self.request, label_id)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PortalForm:
        return LabelNameForm(data, initial={"name": self.label.name})

    def save(self, form: PortalForm) -> str:
        actions.rename_label(by=self.by, label=self.label, name=form.cleaned_data["name"])
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        return {"label": self.label}


class DeleteLabel(LabelsDialog):
    """Ask first, because it cannot be undone; the videos stay."""

    template_name = "library/labels/_remove.html"

    def fetch(self, label_id: UUID) -> None:
        self.label = fetch_label(self.request, label_id)

    def save(self, form: PortalForm) -> str:
        count = actions.delete_label(by=self.by, label=self.label)
        stay = f" {video_count_text(count)} had it and are kept." if count else ""
        return f"Label “{self.label.name}” deleted.{stay}"

    def load_dialog(self) -> Mapping[str, Any]:
        return {"label": self.label, "sentence": label_removal_text(self.label)}
