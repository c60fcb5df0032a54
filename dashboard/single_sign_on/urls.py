"""URLs of the sign-in with single sign-on."""

from __future__ import annotations

from django.urls import path

from dashboard.single_sign_on import views

urlpatterns = [
    path("accounts/single-sign-on/", views.sign_in, name="single-sign-on"),
    path(
        "accounts/single-sign-on/<uuid:single_sign_on_id>/",
        views.sign_in_to_team,
        name="team-single-sign-on",
    ),
    path("accounts/oidc/callback/", views.callback, name="single-sign-on-callback"),
]
