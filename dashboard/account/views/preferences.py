"""Views of a user's theme and team, and of the session and service status."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token, rotate_token
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.middleware import TEAM_SESSION_KEY
from dashboard.shared.openid.session_teams import is_open_membership
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.service_status import load_service_availability
from dashboard.shared.shell import load_own_rate_limit

OTHER_SIGN_IN = "{team} needs another sign-in than this session’s. Sign out, and sign in there."
THEMES = ("", "light", "dark")


@require_POST
def set_theme(request: TeamRequest) -> HttpResponse:
    """Save the theme; an unknown one means the system's."""
    theme = request.POST.get("theme", "")
    request.user.theme = theme if theme in THEMES else ""
    request.user.save(update_fields=["theme"])
    return HttpResponseRedirect(safe_return_path(request, request.POST.get("next", "")))


@require_POST
def switch_team(request: TeamRequest) -> HttpResponse:
    """Switch to another of the user's own teams; 404 for any other team. One that this session
    does not open is entered by its own sign-in."""
    team_id = parse_uuid(request.POST.get("team", ""))
    memberships = request.user.memberships.select_related("team__single_sign_on")
    membership = get_object_or_404(memberships, team_id=team_id)
    if not is_open_membership(request.session, membership):
        messages.warning(request, OTHER_SIGN_IN.format(team=membership.team))
        return HttpResponseRedirect("/")
    request.session[TEAM_SESSION_KEY] = str(membership.team_id)
    rotate_token(request)  # so that a form of the old team, open in another tab, is refused
    return HttpResponseRedirect("/")


@allow_get_or_post
def check_session(request: TeamRequest) -> HttpResponse:
    """Return 204 if a form of the page would be accepted. If the user signed out or left the team
    in another tab, the middleware or the CSRF check has responded before.

    GET returns another CSRF token for a page that was rendered for the same person, `?user=`.
    """
    if request.method == "POST" or request.GET.get("user") != str(request.user.pk):
        return HttpResponse(status=204)
    return HttpResponse(get_token(request), content_type="text/plain")


@require_safe
def show_service_status(request: TeamRequest) -> HttpResponse:
    """Render the service status for a page that missed a change; else the reader's remaining
    requests, or nothing without a token."""
    if request.htmx.target == "service":
        service = load_service_availability(request.team.tenant)
        return render(request, "components/service_status.html", {"service": service})
    rate_limit = load_own_rate_limit(request.membership)
    if rate_limit is None:
        return HttpResponse()
    return render(request, "components/remaining_requests.html", {"rate_limit": rate_limit})
