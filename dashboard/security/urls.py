"""URLs of the team's security."""

from __future__ import annotations

from django.urls import path

from dashboard.security.views import page

urlpatterns = [
    path("security/", page.security, name="security"),
]
