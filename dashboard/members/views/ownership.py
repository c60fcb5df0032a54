"""Views that transfer the ownership of the team: ask a member, answer, take it back."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
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
from dashboard.members.views.dialogs import render_members_dialog
from dashboard.shared.access import (
    check_permission,
    fetch_ownership_transfer,
    fetch_received_transfer,
)
from dashboard.shared.forms import run_or_add_error
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission

TRANSFER_TEMPLATE = "members/_ownership_transfer.html"
ACCEPTANCE_TEMPLATE = "members/_ownership_acceptance.html"


@sensitive_post_parameters("password")
@allow_get_or_post
def request_transfer(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_TEAM)
    members = load_possible_owners(request.membership)
    data = request.POST if request.method == "POST" else None
    form = OwnershipTransferForm(request, members, data)
    if request.method == "POST" and form.is_valid():
        to = form.new_owner
        action = partial(request_ownership_transfer, by=request.membership, to=to)
        if run_or_add_error(form, action, "to"):
            name = to.user.first_name
            messages.success(request, f"{name} was asked. Nothing changes before the answer.")
            return redirect("members")
    context: dict[str, object] = {"form": form, "is_alone": is_alone(request.membership)}
    return render_members_dialog(request, TRANSFER_TEMPLATE, context, is_invalid=bool(form.errors))


@sensitive_post_parameters("password")
@allow_get_or_post
def accept(request: TeamRequest, transfer_id: UUID) -> HttpResponse:
    transfer = fetch_received_transfer(request, transfer_id)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(accept_ownership, by=request.membership, transfer=transfer)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        messages.success(request, f"You own {request.team} now.")
        return redirect("members")
    context: dict[str, object] = {"form": form, "transfer": transfer}
    return render_members_dialog(
        request, ACCEPTANCE_TEMPLATE, context, is_invalid=bool(form.errors)
    )


@require_POST
def decline(request: TeamRequest, transfer_id: UUID) -> HttpResponse:
    transfer = fetch_received_transfer(request, transfer_id)
    action = partial(decline_ownership, by=request.membership, transfer=transfer)
    return run_and_redirect(request, action, f"You declined. {transfer.from_user} stays owner.")


@require_POST
def take_back(request: TeamRequest, transfer_id: UUID) -> HttpResponse:
    transfer = fetch_ownership_transfer(request, transfer_id)
    action = partial(take_ownership_back, by=request.membership, transfer=transfer)
    text = "The transfer was taken back. Nothing was changed."
    return run_and_redirect(request, action, text)
