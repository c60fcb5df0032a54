"""The door in front of every page, and the team behind it: the one chosen in the session, else the
first one joined.

What a page tells of days and clock times is told in the team's time zone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from dashboard.models import Membership
from dashboard.shared.safe_redirect import safe_return_path

TEAM_SESSION_KEY = "team"
AUTOMATIC_VIEW_NAMES = frozenset({"live", "video-media"})


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Nobody passes unknown. Signing in leads back to a page, never to what only a form sends to.

    A session may end while a page stands open: its parts then take the whole window to the door.
    """

    def handle_no_permission(  # type: ignore[override]  # htmx redirects with 200
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        part = "HX-Request" in request.headers  # HtmxMiddleware has not seen it yet
        if not part and request.method in ("GET", "HEAD"):
            return super().handle_no_permission(request, view_func)
        page = request.headers.get("HX-Current-URL" if part else "Referer", "")
        door = redirect_to_login(
            safe_return_path(request, page),
            resolve_url(self.get_login_url(view_func)),
            self.get_redirect_field_name(view_func),
        )
        return HttpResponseClientRedirect(door.url) if part else door


class PermissionsPolicyMiddleware(MiddlewareMixin):
    """What no page of ours uses is denied to all of them, and to what may be laid into them."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        return response


class TeamMiddleware:
    """Every page behind sign-in belongs to a team; nobody's page says who can let them in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(None):  # process_view chooses the team's
            response = explain_method_not_allowed(request, self.get_response(request))
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
        if not set_request_team(request) and not request.path.startswith("/accounts/"):
            return render(request, "account/no_team.html", status=403)
        return HttpResponseClientRefresh() if is_for_another_team(request) else None


class SessionUseMiddleware:
    """Puts off the end of the session when a person used a page (dashboard/account/sessions.py)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        if request.user.is_authenticated and is_user_initiated(request):
            with suppress(OperationalError):  # a full disk keeps nobody from reading
                request.session.extend_expiry()  # type: ignore[attr-defined]


def is_user_initiated(request: HttpRequest) -> bool:
    """Whether a person asked. A page also asks by itself: for its stream, for posters, and through
    htmx, where static/js/shell/user_activity.js marks what a press or a key led to."""
    if "HX-Request" in request.headers:
        return "X-Used" in request.headers
    match = request.resolver_match
    return match is not None and match.url_name not in AUTOMATIC_VIEW_NAMES


def is_for_another_team(request: HttpRequest) -> bool:
    """Whether a page asks that was drawn for another team than the one chosen since, in another
    tab: nothing of this team is laid into it."""
    drawn_for, team = request.headers.get("X-Team", ""), getattr(request, "team", None)
    return team is not None and drawn_for not in ("", str(team.pk))


def explain_method_not_allowed(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Who opens an address that only a form sends to is told so on a page."""
    if response.status_code != 405 or request.method != "GET" or "HX-Request" in request.headers:
        return response
    page = render(request, "405.html", status=405)
    page["Allow"] = response.headers.get("Allow", "")
    return page


def set_request_team(request: HttpRequest) -> bool:
    """Put the team of the signed-in person into the request; False when they have none."""
    # Before anything is read: what is announced from now on may be missing on the page.
    request.entered_at = int(time.time())  # type: ignore[attr-defined]
    membership = current_membership(request)
    if membership is not None:
        request.membership, request.team = membership, membership.team  # type: ignore[attr-defined]
        timezone.activate(membership.team.tenant.zone)
    return membership is not None


def current_membership(request: HttpRequest) -> Membership | None:
    mine = Membership.objects.filter(user_id=request.user.pk or 0)
    mine = mine.select_related("team", "team__tenant", "user")
    chosen = request.session.get(TEAM_SESSION_KEY)
    return (mine.filter(team_id=chosen).first() if chosen else None) or mine.first()
