"""URLs of the forecast."""

from __future__ import annotations

from django.urls import path

from dashboard.forecast import views

urlpatterns = [
    path("forecast/", views.forecast, name="forecast"),
    path("forecast/summary/", views.forecast_summary, name="forecast-summary"),
]
