"""URLs of operations."""

from __future__ import annotations

from django.urls import path

from dashboard.operations import views

urlpatterns = [
    path("operations/", views.operations, name="operations"),
    path("operations/charge-stops/", views.StopCharges.as_view(), name="charge-stops"),
    path(
        "operations/charge-resumptions/", views.ResumeCharges.as_view(), name="charge-resumptions"
    ),
    path("operations/key-rotations/", views.RotateKeys.as_view(), name="key-rotations"),
]
