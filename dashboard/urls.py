"""Every address of the site. Nouns; an action becomes a noun."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dashboard.views import preferences

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", include("allauth.account.urls")),
    # The person and the shell
    path("preferences/theme/", preferences.theme, name="theme"),
    path("preferences/team/", preferences.team, name="team"),
    path("service/", preferences.service, name="service"),
]

handler403 = "dashboard.views.errors.forbidden"
handler404 = "dashboard.views.errors.missing"
handler500 = "dashboard.views.errors.broken"
