"""The view that removes the link of a member to their account at the team's provider."""

from __future__ import annotations

from functools import partial

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters

from dashboard.members.actions.provider_link import remove_provider_link
from dashboard.members.views.dialogs import render_members_dialog
from dashboard.shared.access import check_permission, fetch_removable_membership
from dashboard.shared.forms import run_or_add_error
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission

UNLINK_TEMPLATE = "members/_provider_link_removal.html"


@sensitive_post_parameters("password")
@allow_get_or_post
def unlink(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Say who gets the member's account then, and remove the link."""
    member = fetch_removable_membership(request, membership_id)
    check_permission(request.membership, Permission.MANAGE_TEAM)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(remove_provider_link, by=request.membership, member=member)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        name = member.user.first_name
        messages.success(request, f"{name} is linked anew at the next sign-in with single sign-on.")
        return redirect("members")
    context: dict[str, object] = {"member": member, "form": form}
    return render_members_dialog(request, UNLINK_TEMPLATE, context, is_invalid=bool(form.errors))
