"""Typed requests, so that views need no casts, and redirects."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from dashboard.models import Membership, Team, User

# GET shows the question, POST executes it.
allow_get_or_post = require_http_methods(["GET", "HEAD", "POST"])


class TeamRequest(HttpRequest):
    """A request of a signed-in user within a team; `TeamMiddleware` guarantees both."""

    user: User
    htmx: HtmxDetails
    membership: Membership
    team: Team
    entered_at: int  # seconds since 1970
    # The team requires a second factor: only its set-up is allowed (shared/middleware.py).
    lacks_second_factor: bool


def redirect_to(request: TeamRequest, to: str, *args: object) -> HttpResponse:
    """Redirect to a URL name with its arguments, or to a URL; htmx loads the whole page."""
    response = redirect(to, *args)
    return HttpResponseClientRedirect(response.url) if request.htmx else response
