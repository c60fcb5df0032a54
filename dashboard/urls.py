"""Every address of the site. Nouns; an action becomes a noun."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("accounts/", include("allauth.account.urls")),
]
