"""What views have in common: the types of a request, so that they need no casts, and leaving."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from dashboard.models import Membership, Team, User

allow_get_or_post = require_http_methods(["GET", "HEAD", "POST"])  # a GET asks, a POST does it


class TeamRequest(HttpRequest):
    """A request of a signed-in person within a team; `TeamMiddleware` guarantees both."""

    user: User
    htmx: HtmxDetails
    membership: Membership
    team: Team
    entered_at: int  # seconds since 1970


def redirect_to(request: TeamRequest, to: str, *args: object) -> HttpResponse:
    """To another page: its name and arguments, or its address. htmx is told to go there whole."""
    answer = redirect(to, *args)
    return HttpResponseClientRedirect(answer.url) if request.htmx else answer
