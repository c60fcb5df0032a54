"""URLs of voices and voice clones."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
