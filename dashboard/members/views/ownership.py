"""Views that transfer the ownership of the team: ask a member, answer, withdraw it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from dashboard.members.actions.ownership import (
    accept_ownership,
    decline_ownership,
    request_ownership_transfer,
    take_ownership_back,
)
from dashboard.members.forms.ownership import OwnershipTransferForm
from dashboard.members.queries.ownership import is_alone, load_possible_owners
from dashboard.members.views.answers import run_and_redirect
from dashboard.members.views.dialogs import MembersDialog
from dashboard.shared.access import (
    check_permission,
    fetch_ownership_transfer,
    fetch_received_transfer,
)
from dashboard.shared.dialogs import ConfirmedDialog
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission


class TransferOwnership(MembersDialog, ConfirmedDialog):
    template_name, refused_field = "members/_ownership_transfer.html", "to"

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_TEAM)

    def build_form(self, data: Mapping[str, Any] | None = None) -> OwnershipTransferForm:
        return OwnershipTransferForm(self.request, load_possible_owners(self.by), data)

    def save(self, form: OwnershipTransferForm) -> str:
        request_ownership_transfer(by=self.by, to=form.new_owner)
        name = form.new_owner.user.first_name
        return f"{name} was asked. Nothing changes before the answer."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"is_alone": is_alone(self.by)}


class AcceptOwnership(MembersDialog, ConfirmedDialog):
    template_name = "members/_ownership_acceptance.html"

    def fetch(self, transfer_id: UUID) -> None:
        self.transfer = fetch_received_transfer(self.request, transfer_id)

    def save(self, form: PortalForm) -> str:
        accept_ownership(by=self.by, transfer=self.transfer)
        return f"You own {self.request.team} now."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"transfer": self.transfer}


@require_POST
def decline(request: TeamRequest, transfer_id: UUID) -> HttpResponse:
    transfer = fetch_received_transfer(request, transfer_id)
    action = partial(decline_ownership, by=request.membership, transfer=transfer)
    return run_and_redirect(request, action, f"You declined. {transfer.from_user} stays owner.")


@require_POST
def take_back(request: TeamRequest, transfer_id: UUID) -> HttpResponse:
    transfer = fetch_ownership_transfer(request, transfer_id)
    action = partial(take_ownership_back, by=request.membership, transfer=transfer)
    text = "The transfer was withdrawn. Nothing was changed."
    return run_and_redirect(request, action, text)
