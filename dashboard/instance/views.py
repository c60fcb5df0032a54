"""Views of the operator of the installation. For everybody else they do not exist."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard.instance.actions import (
    create_team_with_owner,
    resend_owner_invitation,
    restore_team,
    suspend_team,
)
from dashboard.instance.forms import NewTeamForm, SuspensionForm
from dashboard.instance.queries import build_instance_page
from dashboard.shared.access import fetch_any_team, require_operator
from dashboard.shared.forms import run_or_add_error
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, BODY_TEMPLATE = "instance/page.html", "instance/_body.html"


@require_safe
def instance(request: TeamRequest) -> HttpResponse:
    """The page; `?part=body` returns what refreshes itself."""
    require_operator(request.user)
    template = BODY_TEMPLATE if request.GET.get("part") == "body" else PAGE_TEMPLATE
    return render(request, template, {"page": build_instance_page()})


@sensitive_post_parameters("password")
@allow_get_or_post
def create_new_team(request: TeamRequest) -> HttpResponse:
    """Create a team, and invite its first owner."""
    require_operator(request.user)
    form = NewTeamForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and settings.PASSWORD_RESET_BY_EMAIL and form.is_valid():
        try:
            team = create_team_with_owner(
                by=request.membership,
                name=form.cleaned_data["team"],
                time_zone=form.cleaned_data["time_zone"],
                address=form.cleaned_data["address"],
            )
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            address = form.cleaned_data["address"]
            messages.success(request, f"{team} was created. {address} gets an invitation.")
            return redirect_to(request, "instance")
    context = {"form": form, "sends_mail": settings.PASSWORD_RESET_BY_EMAIL}
    return render_instance_dialog(request, "instance/_new_team.html", context, form)


@sensitive_post_parameters("password")
@allow_get_or_post
def suspend(request: TeamRequest, team_id: UUID) -> HttpResponse:
    team = fetch_any_team(request, team_id)
    form = SuspensionForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        action = partial(suspend_team, by=request.membership, team=team, reason=reason)
        if run_or_add_error(form, action):
            messages.success(request, f"{team} is suspended.")
            return redirect_to(request, "instance")
    context = {"form": form, "team": team}
    return render_instance_dialog(request, "instance/_suspend.html", context, form)


@sensitive_post_parameters("password")
@allow_get_or_post
def restore(request: TeamRequest, team_id: UUID) -> HttpResponse:
    """End the suspension of a team."""
    team = fetch_any_team(request, team_id)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    action = partial(restore_team, by=request.membership, team=team)
    if request.method == "POST" and form.is_valid() and run_or_add_error(form, action):
        messages.success(request, f"{team} is no longer suspended.")
        return redirect_to(request, "instance")
    context = {"form": form, "team": team}
    return render_instance_dialog(request, "instance/_restore.html", context, form)


@require_POST
def invite_owner(request: TeamRequest, team_id: UUID) -> HttpResponse:
    """Send the invitation of the first owner again."""
    team = fetch_any_team(request, team_id)
    try:
        address = resend_owner_invitation(by=request.membership, team=team)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, f"{address} gets a new link. The link before does not work now.")
    return redirect("instance")


def render_instance_dialog(
    request: TeamRequest, dialog: str, context: dict[str, object], form: RecentAuthenticationForm
) -> HttpResponse:
    """Render the dialog: alone for htmx, over the page without JavaScript."""
    status = 422 if form.errors else 200
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True}, status=status)
    context = {**context, "page": build_instance_page(), "dialog": dialog}
    return render(request, PAGE_TEMPLATE, context, status=status)
