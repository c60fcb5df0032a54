"""URLs of API keys."""

from __future__ import annotations

from django.urls import path

from dashboard.api_keys import views

urlpatterns = [
    path("api-keys/", views.api_keys, name="api-keys"),
    path("api-keys/new/", views.CreateKey.as_view(), name="api-key-new"),
    path("api-keys/<uuid:key_id>/", views.EditKey.as_view(), name="api-key"),
    path("api-keys/<uuid:key_id>/pauses/", views.pause, name="api-key-pauses"),
    path("api-keys/<uuid:key_id>/resumptions/", views.resume, name="api-key-resumptions"),
    path("api-keys/<uuid:key_id>/rotations/", views.RotateKey.as_view(), name="api-key-rotations"),
    path(
        "api-keys/<uuid:key_id>/revocations/", views.RevokeKey.as_view(), name="api-key-revocations"
    ),
]
