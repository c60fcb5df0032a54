"""URLs of the team's members."""

from __future__ import annotations

from django.urls import path

from dashboard.members import views

urlpatterns = [
    path("members/", views.members, name="members"),
    path("members/time-zone/", views.update_time_zone, name="team-time-zone"),
    path("members/<int:membership_id>/roles/", views.update_role, name="member-roles"),
]
