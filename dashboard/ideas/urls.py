"""URLs of ideas: what is owned, searches."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
