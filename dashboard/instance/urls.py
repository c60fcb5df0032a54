"""URLs of the instance page."""

from __future__ import annotations

from django.urls import path

from dashboard.instance import views

urlpatterns = [
    path("instance/", views.instance, name="instance"),
    path("instance/teams/", views.CreateTeam.as_view(), name="instance-teams"),
    path(
        "instance/teams/<uuid:team_id>/suspensions/",
        views.SuspendTeam.as_view(),
        name="team-suspensions",
    ),
    path(
        "instance/teams/<uuid:team_id>/restorations/",
        views.RestoreTeam.as_view(),
        name="team-restorations",
    ),
    path("instance/teams/<uuid:team_id>/invitations/", views.invite_owner, name="team-invitations"),
]
