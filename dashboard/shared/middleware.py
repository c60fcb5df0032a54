"""Middleware: require sign-in and the second factor that a team demands, and set the request's team
and time zone.

The team is the one chosen in the session, else the first one joined. Pages show times in its time
zone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import cast

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render, resolve_url
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django_htmx.http import HttpResponseClientRedirect, HttpResponseClientRefresh

from dashboard.models import Membership, User
from dashboard.shared.audit_log import client_ip_of_request
from dashboard.shared.openid.session_teams import (
    ACCOUNT_PATHS,
    OUTLIVES_SESSION,
    find_required_single_sign_on,
    may_change_account,
    open_memberships,
    single_sign_on_team_id,
)
from dashboard.shared.safe_redirect import FORM_PAGES, safe_return_path
from dashboard.shared.session_limits import (
    default_session_limits,
    shortest_session_limits,
    team_session_limits,
)
from dashboard.shared.suspension import build_suspension_notice, is_suspended
from dashboard.shared.team_security import find_team_security, is_second_factor_missing

TEAM_SESSION_KEY = "team"
# What a member may use whose team requires a second factor that they lack: their own account, where
# it is set up, and the way to another team.
SECOND_FACTOR_EXEMPT_VIEW_NAMES = frozenset({"two-factor-required", "team", "theme", "session"})
OPEN_TO_SUSPENDED = ("/accounts/", "/preferences/team/")
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
            response = redirect_whole_window(request, response)
            response = send_no_page_to_stream(request, response)
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
        has_team = set_request_team(request)
        if not may_change_account(request):
            messages.error(request, OUTLIVES_SESSION)
            return send_to_page(request, "account")
        if not has_team and not request.path.startswith("/accounts/"):
            return explain_no_team(request)
        if is_closed_by_suspension(request):
            return show_suspension(request)
        if must_set_up_second_factor(request):
            return send_to_page(request, "two-factor-required")
        return HttpResponseClientRefresh() if is_for_another_team(request) else None


def send_to_page(request: HttpRequest, name: str) -> HttpResponse:
    """Redirect the whole window."""
    is_htmx = "HX-Request" in request.headers  # HtmxMiddleware runs later
    return HttpResponseClientRedirect(resolve_url(name)) if is_htmx else redirect(name)


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
                limits = getattr(request, "session_limits", default_session_limits())
                request.session.record_use(limits)  # type: ignore[attr-defined]


def is_user_initiated(request: HttpRequest) -> bool:
    """True if a person caused the request.

    Pages also send requests automatically: the stream, posters and htmx polls.
    static/js/shell/user_activity.js marks htmx requests that a click or a key caused.
    """
    if "HX-Request" in request.headers:
        return "X-Used" in request.headers
    match = request.resolver_match
    return match is not None and match.url_name not in AUTOMATIC_VIEW_NAMES


def must_set_up_second_factor(request: HttpRequest) -> bool:
    """True if the member can only set up the second factor that the team requires, and asks for
    something else."""
    match = request.resolver_match
    return (
        getattr(request, "lacks_second_factor", False)
        and not request.path.startswith(ACCOUNT_PATHS)
        and (match is None or match.url_name not in SECOND_FACTOR_EXEMPT_VIEW_NAMES)
    )


def is_for_another_team(request: HttpRequest) -> bool:
    """True if the page was rendered for another team than the one chosen since in another tab; this
    team's data must not be inserted into it."""
    drawn_for, team = request.headers.get("X-Team", ""), getattr(request, "team", None)
    return team is not None and drawn_for not in ("", str(team.pk))


def is_closed_by_suspension(request: HttpRequest) -> bool:
    """True for a page of a suspended team. One's account, another team and, for the operator, the
    teams of the installation stay open."""
    membership = getattr(request, "membership", None)
    if membership is None or not is_suspended(membership.team.tenant):
        return False
    is_operator_page = membership.user.is_superuser and request.path.startswith("/instance/")
    return not is_operator_page and not request.path.startswith(OPEN_TO_SUSPENDED)


def show_suspension(request: HttpRequest) -> HttpResponse:
    """Render the notice; an open page reloads, and shows it then."""
    if "HX-Request" in request.headers:
        return HttpResponseClientRefresh()
    notice = build_suspension_notice(request.membership)  # type: ignore[attr-defined]
    return render(request, "account/team_suspended.html", {"notice": notice}, status=403)


def explain_method_not_allowed(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Replace the 405 of a URL that only accepts forms by a page, if it was opened in a browser. It
    leads to the page of the form."""
    if response.status_code != 405 or request.method != "GET" or "HX-Request" in request.headers:
        return response
    name = request.resolver_match.url_name if request.resolver_match else None
    form_page = reverse(FORM_PAGES[name]) if name in FORM_PAGES else "/"
    page = render(request, "405.html", {"form_page": form_page}, status=405)
    page["Allow"] = response.headers.get("Allow", "")
    return page


def redirect_whole_window(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let htmx load the page that a part of a page is redirected to. It would follow a plain
    redirect by itself, and insert the other page in place of the part."""
    is_redirect = request.method == "GET" and response.status_code in (301, 302)
    if not is_redirect or "HX-Request" not in request.headers:
        return response
    client_redirect = HttpResponseClientRedirect(response.headers["Location"])
    client_redirect.cookies = response.cookies
    return client_redirect


def send_no_page_to_stream(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Answer 204 to an event stream instead of a page: sign-in, suspension, second factor. The
    browser closes the stream, and the page polls: its next request leads the window there."""
    match = request.resolver_match
    if match is None or match.url_name != "live" or response.status_code not in (302, 403):
        return response
    return HttpResponse(status=204, headers={"Cache-Control": "no-store"})


def explain_no_team(request: HttpRequest) -> HttpResponse:
    """Say how to get into a team: with its single sign-on if it requires that; else also which
    teams deactivated the user."""
    user = cast(User, request.user)
    if required := find_required_single_sign_on(request.session, user):
        return render(
            request,
            "account/single_sign_on_required.html",
            {"single_sign_on": required},
            status=403,
        )
    rows = Membership.with_deactivated.filter(user=user).exclude(deactivated_at=None)
    names = " and ".join(rows.values_list("team__name", flat=True))
    return render(request, "account/no_team.html", {"deactivated_in": names}, status=403)


def set_request_team(request: HttpRequest) -> bool:
    """Set the team of the signed-in user on the request; return False if they have none."""
    # Set before any query: events from now on may be missing on the page.
    request.entered_at = int(time.time())  # type: ignore[attr-defined]
    memberships = load_own_memberships(request)
    membership = choose_membership(request, memberships)
    if membership is None:
        return False
    request.membership, request.team = membership, membership.team  # type: ignore[attr-defined]
    request.session_limits = shortest_session_limits(  # type: ignore[attr-defined]
        team_session_limits(find_team_security(row.team)) for row in memberships
    )
    # The provider answers for the second factor of whom it signs in: they can set up none here.
    by_provider = single_sign_on_team_id(request.session, membership.user_id) is not None
    request.lacks_second_factor = (  # type: ignore[attr-defined]
        not by_provider and is_second_factor_missing(membership)
    )
    timezone.activate(membership.team.tenant.zone)
    return True


def load_own_memberships(request: HttpRequest) -> list[Membership]:
    """Return the user's memberships that the session opens, in the order of joining; one query."""
    memberships = open_memberships(request.session, request.user.pk or 0)
    related = ("team__tenant", "team__brand_kit", "team__security_settings")
    rows = list(memberships.select_related(*related, "default_preset"))
    for row in rows:
        row.user = request.user  # type: ignore[assignment]
    return rows


def choose_membership(request: HttpRequest, memberships: list[Membership]) -> Membership | None:
    """Return the membership of the team chosen in the session, else the first."""
    chosen = request.session.get(TEAM_SESSION_KEY)
    rows = (row for row in memberships if str(row.team_id) == chosen)
    return next(rows, memberships[0] if memberships else None)
