"""URLs of characters, their previews and training."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
