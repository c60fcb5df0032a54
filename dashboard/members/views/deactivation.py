"""Views to deactivate a member, and to reactivate them."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.members.actions.deactivation import deactivate_member, reactivate_member
from dashboard.members.queries.removal import count_movable_work
from dashboard.members.views.dialogs import render_members_dialog
from dashboard.shared.access import fetch_deactivated_membership, fetch_membership
from dashboard.shared.forms import run_or_add_error
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm

DEACTIVATION_TEMPLATE = "members/_deactivation.html"
REACTIVATION_TEMPLATE = "members/_reactivation.html"


@sensitive_post_parameters("password")
@allow_get_or_post
def deactivate(request: TeamRequest, membership_id: int) -> HttpResponse:
    member = fetch_membership(request, membership_id)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(deactivate_member, by=request.membership, member=member)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        messages.success(request, f"{member.user} is deactivated.")
        return redirect("members")
    context = {"member": member, "work": count_movable_work(member), "form": form}
    return render_members_dialog(
        request, DEACTIVATION_TEMPLATE, context, is_invalid=bool(form.errors)
    )


@sensitive_post_parameters("password")
@allow_get_or_post
def reactivate(request: TeamRequest, membership_id: int) -> HttpResponse:
    member = fetch_deactivated_membership(request, membership_id)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(reactivate_member, by=request.membership, member=member)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        messages.success(request, f"{member.user} can enter the team again.")
        return redirect("members")
    context: dict[str, object] = {"member": member, "form": form}
    return render_members_dialog(
        request, REACTIVATION_TEMPLATE, context, is_invalid=bool(form.errors)
    )
