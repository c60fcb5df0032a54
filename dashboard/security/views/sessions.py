"""Set how long sessions last, and sign everybody out."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.security.actions.sessions import set_session_limits, sign_everyone_out
from dashboard.security.forms.settings import SessionLimitsForm
from dashboard.security.queries.page import load_open_sessions
from dashboard.security.views.page import (
    SecurityChange,
    render_security_page,
    save_if_confirmed,
)
from dashboard.shared.access import require_visible
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission
from dashboard.shared.session_limits import team_session_limits
from dashboard.shared.team_security import find_team_security

SIGN_OUT_TEMPLATE = "security/_sign_out.html"
LIMITS_SAVED_TEXT = "Saved. It counts for open sessions as well."


@sensitive_post_parameters("password")
@require_POST
def update_limits(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    current = team_session_limits(find_team_security(request.team))
    form = SessionLimitsForm(request, current, request.POST)

    def act() -> str:
        changed = set_session_limits(by=request.membership, limits=form.limits)
        return LIMITS_SAVED_TEXT if changed else ""

    change = SecurityChange("Change the length of sessions?", "Change sessions", act)
    return save_if_confirmed(request, form, change, "session_form")


@sensitive_post_parameters("password")
@allow_get_or_post
def sign_out_everyone(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        sign_everyone_out(by=request.membership)
        request.session.flush()
        return redirect_to(request, "account_login")
    context = {"form": form, "open_sessions": load_open_sessions(request.membership)}
    if request.htmx:
        return render(request, SIGN_OUT_TEMPLATE, {**context, "fragment": True})
    status = 422 if form.errors else 200
    return render_security_page(request, status=status, dialog=SIGN_OUT_TEMPLATE, **context)
