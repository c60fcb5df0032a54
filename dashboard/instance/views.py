"""Views of the operator of the installation. For everybody else they do not exist."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.instance.actions import (
    create_team_with_owner,
    resend_owner_invitation,
    restore_team,
    suspend_team,
)
from dashboard.instance.forms import NewTeamForm, SuspensionForm
from dashboard.instance.queries import load_instance
from dashboard.operations.queries.processes import load_processes
from dashboard.shared.access import fetch_any_team, require_operator
from dashboard.shared.dialogs import ConfirmedDialog
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.mails import PORTAL_SENDS_NO_MAIL
from dashboard.shared.query_params import parse_search_text
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, BODY_TEMPLATE = "instance/page.html", "instance/_body.html"


@require_safe
def instance(request: TeamRequest) -> HttpResponse:
    """The page; `?part=body` and `?part=processes` return what refreshes itself."""
    require_operator(request.user)
    part = request.GET.get("part")
    if part == "processes":
        context = {"processes": load_processes(), "url": reverse("instance")}
        return render(request, "operations/_processes.html", context)
    template = BODY_TEMPLATE if part == "body" else PAGE_TEMPLATE
    return render(request, template, load_instance(parse_search_text(request.GET)))


class InstanceDialog(ConfirmedDialog):
    page_template, back = PAGE_TEMPLATE, "instance"

    def load_page(self) -> Mapping[str, Any]:
        return load_instance()


class CreateTeam(InstanceDialog):
    """Create a team, and invite its first owner."""

    template_name = "instance/_new_team.html"

    def fetch(self) -> None:
        require_operator(self.request.user)

    def build_form(self, data: Mapping[str, Any] | None = None) -> NewTeamForm:
        return NewTeamForm(self.request, data)

    def save(self, form: NewTeamForm) -> str:
        if not settings.PASSWORD_RESET_BY_EMAIL:
            raise Refusal(f"Nothing was created: {PORTAL_SENDS_NO_MAIL}")
        name, address = form.cleaned_data["team"], form.cleaned_data["address"]
        zone = form.cleaned_data["time_zone"]
        team = create_team_with_owner(by=self.by, name=name, time_zone=zone, address=address)
        return f"{team} was created. {address} gets an invitation."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"sends_mail": settings.PASSWORD_RESET_BY_EMAIL}


class TeamDialog(InstanceDialog):
    def fetch(self, team_id: UUID) -> None:
        self.team = fetch_any_team(self.request, team_id)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"team": self.team}


class SuspendTeam(TeamDialog):
    template_name = "instance/_suspend.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> SuspensionForm:
        return SuspensionForm(self.request, data)

    def save(self, form: SuspensionForm) -> str:
        suspend_team(by=self.by, team=self.team, reason=form.cleaned_data["reason"])
        return f"{self.team} is suspended."


class RestoreTeam(TeamDialog):
    """End the suspension of a team."""

    template_name = "instance/_restore.html"

    def save(self, form: PortalForm) -> str:
        restore_team(by=self.by, team=self.team)
        return f"{self.team} is no longer suspended."


@require_POST
def invite_owner(request: TeamRequest, team_id: UUID) -> HttpResponse:
    """Send the invitation of the first owner again."""
    team = fetch_any_team(request, team_id)
    try:
        address = resend_owner_invitation(by=request.membership, team=team)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, f"{address} gets a new link. The link before does not work now.")
    return redirect("instance")
