"""The people of the team, what each may do, and the clock that the team goes by."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import check, fetch_membership
from dashboard.actions.team import change_role, set_zone
from dashboard.forms.team import ZoneForm
from dashboard.http import TeamRequest
from dashboard.models import Role
from dashboard.queries.members import members_page
from dashboard.roles import Permission
from proxyapi.refusals import Refusal


@require_safe
def members(request: TeamRequest) -> HttpResponse:
    return listed(request)


@require_POST
def roles(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Give somebody another role. A refusal stands under their role, with the list as it is."""
    member = fetch_membership(request, membership_id)
    try:
        role = role_in(request.POST.get("role", ""))
        changed = change_role(by=request.membership, member=member, role=role)
    except Refusal as refusal:
        return listed(request, refused=member.pk, sentence=refusal.sentence)
    if changed:
        messages.success(request, f"{member.user.first_name} is now {role.label.lower()}.")
    return redirect("members")


@require_POST
def zone(request: TeamRequest) -> HttpResponse:
    """Tell the team's days in another time zone."""
    check(request.membership, Permission.MANAGE_TEAM)
    form = ZoneForm(request.POST)
    if not form.is_valid():
        return listed(request, zone_form=form)
    if set_zone(by=request.membership, name=form.cleaned_data["time_zone"]):
        told = "Days and times are those of {time_zone}. The ledger’s days are counted anew."
        messages.success(request, told.format_map(form.cleaned_data))
    return redirect("members")


def listed(
    request: TeamRequest, zone_form: ZoneForm | None = None, **refusal: object
) -> HttpResponse:
    zone = {"time_zone": request.team.vault.time_zone}
    context = {
        "page": members_page(request.membership),
        "zone_form": zone_form or ZoneForm(initial=zone),
        **refusal,
    }
    status = 422 if zone_form or refusal else 200
    return render(request, "dashboard/members/list.html", context, status=status)


def role_in(text: str) -> Role:
    try:
        return Role(text)
    except ValueError:
        raise Refusal("There is no such role. Choose one of the list.", field="role") from None
