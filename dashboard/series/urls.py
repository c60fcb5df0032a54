"""URLs of series."""

from __future__ import annotations

from django.urls import path

from dashboard.series import views

urlpatterns = [
    path("series/", views.series_list, name="series-list"),
    path("series/new/", views.new_series, name="series-new"),
    path("series/<uuid:series_id>/", views.series, name="series"),
    path("series/<uuid:series_id>/starts/", views.StartSeries.as_view(), name="series-starts"),
    path("series/<uuid:series_id>/pauses/", views.pause, name="series-pauses"),
    path("series/<uuid:series_id>/removals/", views.RemoveSeries.as_view(), name="series-removals"),
]
