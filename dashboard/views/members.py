"""The people of the team and what each may do."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard.access import fetch_membership
from dashboard.actions.team import change_role
from dashboard.http import TeamRequest
from dashboard.models import Role
from dashboard.queries.members import members_page
from proxyapi.refusals import Refusal


@require_GET
def members(request: TeamRequest) -> HttpResponse:
    page = members_page(request.membership)
    return render(request, "dashboard/members/list.html", {"page": page})


@require_POST
def roles(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Give somebody another role. A refusal stands under their role, with the list as it is."""
    member = fetch_membership(request, membership_id)
    try:
        role = role_in(request.POST.get("role", ""))
        changed = change_role(by=request.membership, member=member, role=role)
    except Refusal as refusal:
        context = {
            "page": members_page(request.membership),
            "refused": member.pk,
            "sentence": refusal.sentence,
        }
        return render(request, "dashboard/members/list.html", context, status=422)
    if changed:
        messages.success(request, f"{member.user.first_name} is now {role.label.lower()}.")
    return redirect("members")


def role_in(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Refusal("There is no such role. Choose one of the list.", field="role") from None
