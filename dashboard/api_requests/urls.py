"""URLs of the request log."""

from __future__ import annotations

from django.urls import path

from dashboard.api_requests import views

urlpatterns = [
    path("api-keys/requests/", views.request_log, name="api-requests"),
    path("api-keys/requests/export/", views.export_requests, name="api-requests-export"),
    path("api-keys/requests/<uuid:request_id>/", views.request_detail, name="api-request"),
]
