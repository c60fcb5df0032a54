"""Views of the team's members, their roles, and the team's time zone."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.members.actions import change_member_role, set_team_time_zone
from dashboard.members.forms import TimeZoneForm
from dashboard.members.queries import build_members_page
from dashboard.models import Role
from dashboard.shared.access import check_permission, fetch_membership
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal


@require_safe
def members(request: TeamRequest) -> HttpResponse:
    return render_members_page(request)


@require_POST
def update_role(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Change a member's role. A refusal is shown below their role, with an unchanged list."""
    member = fetch_membership(request, membership_id)
    try:
        role = parse_role(request.POST.get("role", ""))
        changed = change_member_role(by=request.membership, member=member, role=role)
    except Refusal as refusal:
        return render_members_page(request, refused=member.pk, sentence=refusal.sentence)
    if changed:
        messages.success(request, f"{member.user.first_name} is now {role.label.lower()}.")
    return redirect("members")


@require_POST
def update_time_zone(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_TEAM)
    form = TimeZoneForm(request.POST)
    if not form.is_valid():
        return render_members_page(request, zone_form=form)
    if set_team_time_zone(by=request.membership, name=form.cleaned_data["time_zone"]):
        message = "Time zone set to {time_zone}. Daily totals of the ledger are being recalculated."
        messages.success(request, message.format_map(form.cleaned_data))
    return redirect("members")


def render_members_page(
    request: TeamRequest, zone_form: TimeZoneForm | None = None, **refusal: object
) -> HttpResponse:
    zone = {"time_zone": request.team.tenant.time_zone}
    context = {
        "page": build_members_page(request.membership),
        "zone_form": zone_form or TimeZoneForm(initial=zone),
        **refusal,
    }
    status = 422 if zone_form or refusal else 200
    return render(request, "members/list.html", context, status=status)


def parse_role(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Refusal("There is no such role. Choose one from the list.", field="role") from None
