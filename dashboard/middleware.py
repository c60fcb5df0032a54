"""Puts the team into the request: the one chosen in the session, else the first one joined.

What a page tells of days and clock times is told in the team's time zone.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from dashboard.models import Membership

TEAM_IN_SESSION = "team"


class TeamMiddleware:
    """Every page behind sign-in belongs to a team; nobody's page says who can let them in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(None):  # process_view chooses the team's
            response = self.get_response(request)
        if request.user.is_authenticated:
            # Pages of a team are nobody else's to keep, the back button of a shared computer
            # included.
            response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object
    ) -> HttpResponse | None:
        if not getattr(view, "login_required", True) or not request.user.is_authenticated:
            return None
        if not enter_team(request) and not request.path.startswith("/accounts/"):
            return render(request, "dashboard/teamless.html", status=403)
        return None


def enter_team(request: HttpRequest) -> bool:
    """Put the team of the signed-in person into the request; False when they have none."""
    # Before anything is read: what is announced from now on may be missing on the page.
    request.entered_at = int(time.time())  # type: ignore[attr-defined]
    membership = membership_of(request)
    if membership is not None:
        request.membership, request.team = membership, membership.team  # type: ignore[attr-defined]
        timezone.activate(membership.team.vault.zone)
    return membership is not None


def membership_of(request: HttpRequest) -> Membership | None:
    mine = Membership.objects.filter(user_id=request.user.pk or 0)
    mine = mine.select_related("team", "team__vault", "user")
    chosen = request.session.get(TEAM_IN_SESSION)
    return (mine.filter(team_id=chosen).first() if chosen else None) or mine.first()
