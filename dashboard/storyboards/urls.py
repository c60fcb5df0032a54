"""URLs of storyboards: the list, a new one, the editor, scenes, clips and the render."""

from __future__ import annotations

from django.urls import path

from dashboard.storyboards.views import placeholders

urlpatterns = [
    path(
        "studio/storyboards/<uuid:storyboard_id>/",
        placeholders.show_placeholder,
        name="storyboard",
    ),
    path(
        "studio/storyboards/<uuid:storyboard_id>/render/",
        placeholders.show_placeholder,
        name="storyboard-render",
    ),
]
