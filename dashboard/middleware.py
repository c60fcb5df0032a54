"""Puts the team into the request: the one chosen in the session, else the first one joined."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.models import Membership

TEAM_IN_SESSION = "team"


class TeamMiddleware:
    """Every page behind sign-in belongs to a team; nobody's page says who can let them in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
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
        membership = membership_of(request)
        if membership is None and not request.path.startswith("/accounts/"):
            return render(request, "dashboard/teamless.html", status=403)
        if membership is not None:
            request.membership, request.team = membership, membership.team  # type: ignore[attr-defined]
        return None


def membership_of(request: HttpRequest) -> Membership | None:
    mine = Membership.objects.filter(user_id=request.user.pk or 0)
    mine = mine.select_related("team", "team__vault", "user")
    chosen = request.session.get(TEAM_IN_SESSION)
    return (mine.filter(team_id=chosen).first() if chosen else None) or mine.first()
