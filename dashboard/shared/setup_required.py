"""Middleware: while an installation has no user, every page leads to its set-up."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.models import User

# For whoever watches over the process; static files are answered before.
HEALTH_PATHS = frozenset({"/healthz", "/readyz", "/metrics"})


class SetupRequiredMiddleware:
    """`has_users` is kept for the process: once a user exists, the database is not asked again."""

    has_users = False

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        setup_url = reverse("setup")
        if request.path in HEALTH_PATHS or request.path == setup_url or find_users():
            return self.get_response(request)
        return redirect(setup_url)


def find_users() -> bool:
    """Whether the installation has a user."""
    if not SetupRequiredMiddleware.has_users:
        SetupRequiredMiddleware.has_users = User.objects.exists()
    return SetupRequiredMiddleware.has_users
