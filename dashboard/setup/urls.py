"""URLs of the set-up."""

from __future__ import annotations

from django.urls import path

from dashboard.setup import views

urlpatterns = [
    path("setup/", views.set_up, name="setup"),
    path("setup/tokens/", views.connect_service, name="setup-tokens"),
    path("setup/checks/", views.check_account, name="setup-checks"),
    path("setup/invitations/", views.invite_team, name="setup-invitations"),
    path("setup/completions/", views.complete, name="setup-completions"),
]
