"""URLs of operations."""

from __future__ import annotations

from django.urls import path

from dashboard.operations import views

urlpatterns = [
    path("operations/", views.operations, name="operations"),
    path("operations/charge-stops/", views.stop_all_charges, name="charge-stops"),
    path("operations/charge-resumptions/", views.resume_all_charges, name="charge-resumptions"),
    path("operations/key-rotations/", views.rotate_keys, name="key-rotations"),
]
