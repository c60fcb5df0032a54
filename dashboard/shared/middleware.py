"""Middleware: require sign-in, and set the request's team and time zone.

The team is the one chosen in the session, else the first one joined. Pages show times in its time
zone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render, resolve_url
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from dashboard.models import Membership
from dashboard.shared.audit_log import client_ip_of_request
from dashboard.shared.safe_redirect import safe_return_path

TEAM_SESSION_KEY = "team"
AUTOMATIC_VIEW_NAMES = frozenset({"live", "video-media"})


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Redirect to sign-in, and afterwards to a page, never to a URL that only accepts forms.

    If a session expires while a page is open, an htmx request redirects the whole window.
    """

    def handle_no_permission(  # type: ignore[override]  # htmx redirects with 200
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        is_htmx = "HX-Request" in request.headers  # HtmxMiddleware runs later
        if not is_htmx and request.method in ("GET", "HEAD"):
            return super().handle_no_permission(request, view_func)
        page = request.headers.get("HX-Current-URL" if is_htmx else "Referer", "")
        sign_in = redirect_to_login(
            safe_return_path(request, page),
            resolve_url(self.get_login_url(view_func)),
            self.get_redirect_field_name(view_func),
        )
        return HttpResponseClientRedirect(sign_in.url) if is_htmx else sign_in


class PermissionsPolicyMiddleware(MiddlewareMixin):
    """Deny the browser features that no page uses, also to embedded content."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        return response


class TeamMiddleware:
    """Require a team for every page behind sign-in; a user without one sees who can add them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(None):  # process_view activates the team's
            response = explain_method_not_allowed(request, self.get_response(request))
        if request.user.is_authenticated:
            # The browser must not keep a team's pages: on a shared computer, the back button
            # would show them after sign-out.
            response.headers.setdefault("Cache-Control", "no-store, private")
        return response

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], *_: object
    ) -> HttpResponse | None:
        if not getattr(view, "login_required", True) or not request.user.is_authenticated:
            return None
        if not set_request_team(request) and not request.path.startswith("/accounts/"):
            return render_no_team(request)
        return HttpResponseClientRefresh() if is_for_another_team(request) else None


def render_no_team(request: HttpRequest) -> HttpResponse:
    """Say how to get into a team, and which teams deactivated the person."""
    rows = Membership.with_deactivated.filter(user_id=request.user.pk or 0)
    names = rows.exclude(deactivated_at=None).values_list("team__name", flat=True)
    context = {"deactivated_in": " and ".join(names)}
    return render(request, "account/no_team.html", context, status=403)


class AuditOriginMiddleware:
    """Let audit rows of this request name the client's address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        client_ip_of_request.set("")
        with suppress(PermissionDenied):  # the proxy gave no address
            client_ip_of_request.set(get_adapter().get_client_ip(request))
        try:
            return self.get_response(request)
        finally:
            client_ip_of_request.set(None)


class SessionUseMiddleware:
    """Extend the session when a person uses a page (dashboard/account/sessions.py)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: object) -> None:
        if request.user.is_authenticated and is_user_initiated(request):
            with suppress(OperationalError):  # a full disk must not prevent reading
                request.session.extend_expiry()  # type: ignore[attr-defined]


def is_user_initiated(request: HttpRequest) -> bool:
    """True if a person caused the request.

    Pages also send requests automatically: the stream, posters and htmx polls.
    static/js/shell/user_activity.js marks htmx requests that a click or a key caused.
    """
    if "HX-Request" in request.headers:
        return "X-Used" in request.headers
    match = request.resolver_match
    return match is not None and match.url_name not in AUTOMATIC_VIEW_NAMES


def is_for_another_team(request: HttpRequest) -> bool:
    """True if the page was rendered for another team than the one chosen since in another tab; this
    team's data must not be inserted into it."""
    drawn_for, team = request.headers.get("X-Team", ""), getattr(request, "team", None)
    return team is not None and drawn_for not in ("", str(team.pk))


def explain_method_not_allowed(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Replace the 405 of a URL that only accepts forms by a page, if it was opened in a browser."""
    if response.status_code != 405 or request.method != "GET" or "HX-Request" in request.headers:
        return response
    page = render(request, "405.html", status=405)
    page["Allow"] = response.headers.get("Allow", "")
    return page


def set_request_team(request: HttpRequest) -> bool:
    """Set the team of the signed-in user on the request; return False if they have none."""
    # Set before any query: events from now on may be missing on the page.
    request.entered_at = int(time.time())  # type: ignore[attr-defined]
    membership = current_membership(request)
    if membership is not None:
        request.membership, request.team = membership, membership.team  # type: ignore[attr-defined]
        timezone.activate(membership.team.tenant.zone)
    return membership is not None


def current_membership(request: HttpRequest) -> Membership | None:
    memberships = Membership.objects.filter(user_id=request.user.pk or 0)
    memberships = memberships.select_related(
        "team__tenant", "team__brand_kit", "user", "default_preset"
    )
    chosen = request.session.get(TEAM_SESSION_KEY)
    return (memberships.filter(team_id=chosen).first() if chosen else None) or memberships.first()
