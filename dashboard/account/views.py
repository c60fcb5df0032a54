"""A person's own choices, light or dark and which of their teams they look at, and the pages of
allauth that Reelroom changes."""

from __future__ import annotations

from allauth.account import views as allauth
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import rotate_token
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.account.sign_in_limits import remember_client
from dashboard.shared.http import TeamRequest
from dashboard.shared.middleware import TEAM_SESSION_KEY
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.service_status import load_service_availability
from dashboard.shared.shell import load_own_rate_limit

THEMES = ("", "light", "dark")


@require_POST
def set_theme(request: TeamRequest) -> HttpResponse:
    """An unknown theme is the system's."""
    wanted = request.POST.get("theme", "")
    request.user.theme = wanted if wanted in THEMES else ""
    request.user.save(update_fields=["theme"])
    return HttpResponseRedirect(safe_return_path(request, request.POST.get("next", "")))


@require_POST
def switch_team(request: TeamRequest) -> HttpResponse:
    """Another of the person's own teams; somebody else's does not exist."""
    wanted = parse_uuid(request.POST.get("team", ""))
    membership = get_object_or_404(request.user.memberships, team_id=wanted)
    request.session[TEAM_SESSION_KEY] = str(membership.team_id)
    rotate_token(request)  # a form of the other team, in another tab, is not sent to this one
    return HttpResponseRedirect("/")


@require_POST
def check_session(request: TeamRequest) -> HttpResponse:
    """Whether a form of the page that asks would be taken: for who signed out or left the team in
    another tab, the door, the team or CSRF's check have answered by now."""
    return HttpResponse(status=204)


@require_safe
def show_service_status(request: TeamRequest) -> HttpResponse:
    """Whether the service answers, for a page that missed it; else what is left of the reader's own
    requests, and nothing for who has no token any more."""
    if request.htmx.target == "service":
        found = load_service_availability(request.team.tenant)
        return render(request, "components/service_status.html", {"service": found})
    left = load_own_rate_limit(request.membership)
    if left is None:
        return HttpResponse()
    return render(request, "components/remaining_requests.html", {"allowance": left})


@login_not_required
def password_reset(request: HttpRequest) -> HttpResponse:
    """Without a mail server no link is made: it would stand in the log."""
    if not settings.PASSWORD_RESET_BY_EMAIL:
        return render(request, "account/password_reset_unavailable.html")
    response: HttpResponse = allauth.password_reset(request)
    return response


class PasswordResetFromKey(allauth.PasswordResetFromKeyView):  # type: ignore[misc]
    def form_valid(self, form: Form) -> HttpResponse:
        """The link proves the mailbox: guesses of others do not hold this browser up."""
        response: HttpResponse = super().form_valid(form)
        remember_client(response, self.reset_user.email)
        return response
