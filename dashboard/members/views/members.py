"""Views of the team's members, and of the team's time zone."""

from __future__ import annotations

from functools import partial

from allauth.core.internal import ratelimit
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.members.actions.team import set_team_time_zone
from dashboard.members.actions.token_requests import request_member_token
from dashboard.members.forms.team import TimeZoneForm
from dashboard.members.queries.members import build_members_page, parse_member_filters
from dashboard.members.views.answers import run_and_redirect
from dashboard.models import Membership
from dashboard.shared.access import check_permission, fetch_membership
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

TOKEN_REQUEST_RATE = "2/h/key"  # noqa: S105  # of one member


@require_safe
def members(request: TeamRequest) -> HttpResponse:
    return render_members_page(request)


@require_POST
def update_time_zone(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_TEAM)
    form = TimeZoneForm(request.POST)
    if not form.is_valid():
        return render_members_page(request, zone_form=form, status=422)
    if set_team_time_zone(by=request.membership, name=form.cleaned_data["time_zone"]):
        message = "Time zone set to {time_zone}. Daily totals of the ledger are being recalculated."
        messages.success(request, message.format_map(form.cleaned_data))
    return redirect("members")


@require_POST
def request_token(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Remind a member to add a token, twice an hour at most."""
    member = fetch_membership(request, membership_id)
    text = f"{member.user} gets a notice and an e-mail."
    return run_and_redirect(request, partial(remind_of_token, request, member), text)


def remind_of_token(request: TeamRequest, member: Membership) -> None:
    usage = ratelimit.consume(
        request,
        app="members",
        action="token_request",
        config={"token_request": TOKEN_REQUEST_RATE},
        key=str(member.pk),
    )
    if usage is None:
        raise Refusal(f"{member.user} was reminded a moment ago.")
    request_member_token(by=request.membership, member=member)


def render_members_page(
    request: TeamRequest, *, status: int = 200, **context: object
) -> HttpResponse:
    """Render the page, or for htmx the filtered table alone. `context`: a dialog, or what was
    refused."""
    template = "members/_filtered.html" if request.htmx.target == "members" else "members/list.html"
    return render(request, template, {**load_members_page(request), **context}, status=status)


def load_members_page(request: TeamRequest) -> dict[str, object]:
    zone = {"time_zone": request.team.tenant.time_zone}
    page = build_members_page(request.membership, parse_member_filters(request.GET))
    return {"page": page, "zone_form": TimeZoneForm(initial=zone)}
