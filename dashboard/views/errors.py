"""The pages for what did not work: not found, not allowed, not now."""

from __future__ import annotations

import sys

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template

from dashboard.middleware import enter_team
from dashboard.outages import RETRY_AFTER, is_full_disk, is_outage


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Shows the sentence of the PermissionDenied that was raised."""
    return render(request, "403.html", {"sentence": str(exception or "")}, status=403)


def missing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Shows the sentence of the Http404; an address that never was has none, and no view either
    that the team was put into the request for."""
    if request.user.is_authenticated and not hasattr(request, "membership"):
        enter_team(request)
    said = exception.args[0] if exception and exception.args else ""
    sentence = said if isinstance(said, str) and said.endswith(".") else ""
    return render(request, "404.html", {"sentence": sentence}, status=404)


@login_not_required
def nowhere(request: HttpRequest) -> HttpResponse:
    """An address of a package that this site does not have."""
    raise Http404


def broken(request: HttpRequest) -> HttpResponse:
    """Without a context: no query, no session, nothing that may be what broke."""
    error = sys.exc_info()[1]
    if is_full_disk(error):
        return HttpResponse(get_template("507.html").render(), status=507)
    if is_outage(error):
        away = HttpResponse(get_template("503.html").render(), status=503)
        away["Retry-After"] = str(RETRY_AFTER)
        return away
    return HttpResponse(get_template("500.html").render(), status=500)


@login_not_required
def csrf_failed(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "403_csrf.html", status=403)
