"""URLs of the overview."""

from __future__ import annotations

from django.urls import path

from dashboard.overview import views

urlpatterns = [
    path("", views.overview, name="overview"),
    path("getting-started/hide/", views.hide_first_steps, name="getting-started-hide"),
]
