"""Types that name the request, so that views need no casts."""

from __future__ import annotations

from django.http import HttpRequest
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from dashboard.models import Membership, Team, User

ASKS_OR_ACTS = require_http_methods(["GET", "HEAD", "POST"])  # a GET asks, a POST does it


class TeamRequest(HttpRequest):
    """A request of a signed-in person within a team; `TeamMiddleware` guarantees both."""

    user: User
    htmx: HtmxDetails
    membership: Membership
    team: Team
    entered_at: int  # seconds since 1970
