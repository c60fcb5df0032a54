"""The pages for what did not work: not found, not allowed, not now."""

from __future__ import annotations

import sys

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template

from dashboard.monitoring.outages import RETRY_AFTER_S, is_full_disk, is_outage
from dashboard.shared.middleware import set_request_team

NOTHING_SAVED_TEXT = "Nothing was saved and nothing was charged."
TOO_LARGE_TEXT = f"The request is larger than the limit of 2.5 MB. {NOTHING_SAVED_TEXT}"
TOO_MANY_FIELDS_TEXT = f"The request has more than the limit of 1,000 fields. {NOTHING_SAVED_TEXT}"
UNKNOWN_HOST_TEXT = "This portal is not available at this address."
UNREADABLE_TEXT = f"Part of the request is missing or damaged. {NOTHING_SAVED_TEXT}"


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """For what a visitor sends that cannot be read: 413 for too much of it, else 400. htmx gets the
    sentence alone, and shows it where it was pressed (static/js/shell/request_errors.js)."""
    if isinstance(exception, DisallowedHost):  # no page: its addresses would be that host's
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
    """Shows the sentence of the PermissionDenied that was raised."""
    return render(request, "403.html", {"sentence": str(exception or "")}, status=403)


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Shows the sentence of the Http404; an address that never was has none, and no view either
    that the team was put into the request for."""
    add_team_to_request(request)
    said = exception.args[0] if exception and exception.args else ""
    sentence = said if isinstance(said, str) and said.endswith(".") else ""
    return render(request, "404.html", {"sentence": sentence}, status=404)


def add_team_to_request(request: HttpRequest) -> None:
    """For an error before the view, with the shell around it; not for one before the session."""
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and not hasattr(request, "membership"):
        set_request_team(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Without a context: no query, no session, nothing that may be what broke."""
    error = sys.exc_info()[1]
    if is_full_disk(error):
        return HttpResponse(get_template("507.html").render(), status=507)
    if is_outage(error):
        away = HttpResponse(get_template("503.html").render(), status=503)
        away["Retry-After"] = str(RETRY_AFTER_S)
        return away
    return HttpResponse(get_template("500.html").render(), status=500)


@login_not_required
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)
