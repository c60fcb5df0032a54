"""Error pages: 400, 403, 404, 413, 500, 503 and 507."""

from __future__ import annotations

import sys
from contextlib import suppress

from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template

from dashboard.models import AuditAction
from dashboard.monitoring.outages import (
    OUTAGE_ERRORS,
    RETRY_AFTER_S,
    is_full_disk,
    is_outage,
)
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.middleware import set_request_team

NOTHING_SAVED_TEXT = "Nothing was saved and nothing was charged."
TOO_LARGE_TEXT = f"The request is larger than the limit of 2.5 MB. {NOTHING_SAVED_TEXT}"
TOO_MANY_FIELDS_TEXT = f"The request has more than the limit of 1,000 fields. {NOTHING_SAVED_TEXT}"
UNKNOWN_HOST_TEXT = "This portal is not available at this address."
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
REFUSED_RECORD_INTERVAL_S = 300
UNREADABLE_TEXT = f"Part of the request is missing or damaged. {NOTHING_SAVED_TEXT}"


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Render 413 for a request that is too large, else 400.

    An htmx request gets only the sentence, which static/js/shell/request_errors.js shows beside the
    pressed control.
    """
    if isinstance(exception, DisallowedHost):  # no page: its links would lead to that host
        return HttpResponse(UNKNOWN_HOST_TEXT, status=400, content_type="text/plain; charset=utf-8")
    status, sentence = 400, UNREADABLE_TEXT
    if isinstance(exception, RequestDataTooBig):
        status, sentence = 413, TOO_LARGE_TEXT
    elif isinstance(exception, (TooManyFieldsSent, TooManyFilesSent)):
        sentence = TOO_MANY_FIELDS_TEXT
    if "HX-Request" in request.headers:
        return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8")
    add_team_to_request(request)
    return render(request, f"{status}.html", {"sentence": sentence}, status=status)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Show the sentence of the `PermissionDenied`."""
    record_refused_attempt(request)
    return render(request, "403.html", {"sentence": str(exception or "")}, status=403)


def record_refused_attempt(request: HttpRequest) -> None:
    """Record that a member pressed what their role may not do; one row for the same in five
    minutes. Opening a page is no attempt."""
    membership = getattr(request, "membership", None)
    if membership is None or request.method in SAFE_METHODS or request.resolver_match is None:
        return
    route = request.resolver_match.view_name
    with suppress(*OUTAGE_ERRORS):
        if cache.add(f"refused:{membership.pk}:{route}", True, REFUSED_RECORD_INTERVAL_S):
            words = route.replace("-", " ")
            record_audit_event(membership, AuditAction.ACCESS_REFUSE, request.path, request=words)


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Show the sentence of the `Http404`. An unknown URL has none, and no view set its team."""
    add_team_to_request(request)
    message = exception.args[0] if exception and exception.args else ""
    sentence = message if isinstance(message, str) and message.endswith(".") else ""
    return render(request, "404.html", {"sentence": sentence}, status=404)


def add_team_to_request(request: HttpRequest) -> None:
    """Set the team for an error before the view, so that the page has its shell. An error before
    the session has no user, and no shell."""
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and not hasattr(request, "membership"):
        set_request_team(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Render without a context: no query and no session, because either may be what failed."""
    error = sys.exc_info()[1]
    if is_full_disk(error):
        return HttpResponse(get_template("507.html").render(), status=507)
    if is_outage(error):
        response = HttpResponse(get_template("503.html").render(), status=503)
        response["Retry-After"] = str(RETRY_AFTER_S)
        return response
    return HttpResponse(get_template("500.html").render(), status=500)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    response = render(request, "403_csrf.html", status=403)
    response["X-CSRF-Failed"] = "1"  # an open page fetches another token (session_check.js)
    return response
