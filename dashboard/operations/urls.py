"""URLs of operations."""

from __future__ import annotations

from django.urls import path

from dashboard.operations import views

urlpatterns = [
    path("operations/", views.operations, name="operations"),
]
