"""URLs of the instance page."""

from __future__ import annotations

from django.urls import path

from dashboard.instance import views

urlpatterns = [
    path("instance/", views.instance, name="instance"),
    path("instance/teams/", views.create_new_team, name="instance-teams"),
    path("instance/teams/<uuid:team_id>/suspensions/", views.suspend, name="team-suspensions"),
    path("instance/teams/<uuid:team_id>/restorations/", views.restore, name="team-restorations"),
    path("instance/teams/<uuid:team_id>/invitations/", views.invite_owner, name="team-invitations"),
]
