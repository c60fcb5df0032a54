"""The operations page of owners and admins, and the stop of all charges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from dashboard.operations.actions import resume_charges, stop_charges
from dashboard.operations.forms import StopForm
from dashboard.operations.key_rotation import start_key_rotation
from dashboard.operations.queries.encryption_keys import find_key_ids
from dashboard.operations.queries.page import build_operations_page
from dashboard.operations.queries.processes import load_processes
from dashboard.operations.queries.rotation_status import load_rotation_status
from dashboard.shared.access import require_operator, require_visible
from dashboard.shared.dialogs import ConfirmedDialog, DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission


@require_safe
def operations(request: TeamRequest) -> HttpResponse:
    """The page; `?part=body` and `?part=processes` return what refreshes itself."""
    require_visible(request.membership, Permission.OPERATE)
    part = request.GET.get("part")
    if part == "processes":
        context = {"processes": load_processes(), "url": reverse("operations")}
        return render(request, "operations/_processes.html", context)
    page = build_operations_page(request.membership)
    template = "operations/_body.html" if part == "body" else "operations/page.html"
    return render(request, template, {"page": page})


class OperationsDialog(DialogView):
    page_template, back = "operations/page.html", "operations"

    def fetch(self) -> None:
        require_visible(self.by, Permission.OPERATE)

    def load_page(self) -> Mapping[str, Any]:
        return {"page": build_operations_page(self.by)}


class StopCharges(OperationsDialog):
    template_name = "operations/_stop.html"
    form_class = StopForm

    def save(self, form: PortalForm) -> str:
        count = stop_charges(by=self.by, reason=form.cleaned_data["reason"])
        return f"Charges are stopped. {released_text(count)}"


def released_text(count: int) -> str:
    if not count:
        return "None was waiting."
    return "One that waited was released." if count == 1 else f"{count} that waited were released."


class ResumeCharges(OperationsDialog):
    template_name = "operations/_resume.html"

    def save(self, form: PortalForm) -> str:
        resume_charges(by=self.by)
        return "Charges are allowed again."


class RotateKeys(OperationsDialog, ConfirmedDialog):
    """Have workers encrypt every secret of the installation with the newest key."""

    template_name = "operations/_rotation.html"

    def fetch(self) -> None:
        super().fetch()
        require_operator(self.request.user)

    def save(self, form: PortalForm) -> str:
        start_key_rotation(by=self.by)
        return "The rotation has started. Everything keeps working meanwhile."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"rotation": load_rotation_status(self.by), "key_ids": find_key_ids()}
