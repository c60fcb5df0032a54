"""URLs of storyboards: the list, a new one, the editor, scenes, clips and the render."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
