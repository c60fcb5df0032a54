"""The view that resets the two-factor sign-in of a member."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.members.actions.second_factor import reset_second_factor
from dashboard.members.views.dialogs import render_members_dialog
from dashboard.shared.access import check_permission, fetch_removable_membership
from dashboard.shared.forms import run_or_add_error
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission

RESET_TEMPLATE = "members/_second_factor_reset.html"


@sensitive_post_parameters("password")
@allow_get_or_post
def reset(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Warn that somebody else may ask in the member's name, then reset it."""
    member = fetch_removable_membership(request, membership_id)
    check_permission(request.membership, Permission.MANAGE_MEMBERS)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(reset_second_factor, by=request.membership, member=member)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        messages.success(request, f"The two-factor sign-in of {member.user} was reset.")
        return redirect("members")
    context: dict[str, object] = {"member": member, "form": form}
    return render_members_dialog(request, RESET_TEMPLATE, context, is_invalid=bool(form.errors))
