"""Require a second factor, remind a member of it, and the page of those who lack it."""

from __future__ import annotations

from allauth.core.internal import ratelimit
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard.security.actions.two_factor import (
    remind_of_two_factor,
    set_two_factor_requirement,
)
from dashboard.security.forms.settings import TwoFactorSwitchForm
from dashboard.security.views.page import SecurityChange, save_if_confirmed
from dashboard.shared.access import fetch_team_member, require_visible
from dashboard.shared.http import TeamRequest
from dashboard.shared.middleware import load_own_memberships
from dashboard.shared.roles import Permission
from dashboard.shared.team_security import TWO_FACTOR_SETUP_URL, is_second_factor_missing
from proxyapi.refusals import Refusal

REMINDER_RATE = "2/h/key"  # of one member
REQUIRED_TEXT = "Two-factor is required of every member now."
NOT_REQUIRED_TEXT = "Two-factor is not required any more."


@sensitive_post_parameters("password")
@require_POST
def switch_requirement(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    form = TwoFactorSwitchForm(request, request.POST)
    is_required = bool(form["is_required"].data)

    def act() -> str:
        if not set_two_factor_requirement(by=request.membership, is_required=is_required):
            return ""
        return REQUIRED_TEXT if is_required else NOT_REQUIRED_TEXT

    title = "Require two-factor?" if is_required else "Stop requiring two-factor?"
    label = "Require two-factor" if is_required else "Stop requiring it"
    return save_if_confirmed(request, form, SecurityChange(title, label, act))


@require_POST
def remind_member(request: TeamRequest, membership_id: int) -> HttpResponse:
    """Remind a member, twice an hour at most."""
    member = fetch_team_member(request, membership_id, Permission.MANAGE_SECURITY)
    try:
        usage = ratelimit.consume(
            request,
            app="security",
            action="reminder",
            config={"reminder": REMINDER_RATE},
            key=str(member.pk),
        )
        if usage is None:
            raise Refusal(f"{member.user} was reminded a moment ago.")
        remind_of_two_factor(by=request.membership, member=member)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, f"{member.user} gets a notice and an e-mail.")
    return redirect("security")


@require_safe
def two_factor_required(request: TeamRequest) -> HttpResponse:
    """Say why nothing else opens, and where it is set up; the other teams open as before."""
    if not request.lacks_second_factor:
        return redirect("overview")
    memberships = load_own_memberships(request)
    open_teams = [row.team for row in memberships if not is_second_factor_missing(row)]
    context = {
        "team": request.team,
        "open_teams": open_teams,
        "set_up_url": TWO_FACTOR_SETUP_URL,
    }
    return render(request, "security/two_factor_required.html", context)
