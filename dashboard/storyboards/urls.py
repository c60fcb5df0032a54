"""URLs of storyboards: the list, a new one, the editor, scenes, clips and the render."""

from __future__ import annotations

from django.urls import path

from dashboard.storyboards.views import list as list_views
from dashboard.storyboards.views import placeholders, start, writing

urlpatterns = [
    path(
        "studio/storyboards/<uuid:storyboard_id>/",
        placeholders.show_placeholder,
        name="storyboard",
    ),
    path("studio/storyboards/", list_views.storyboards, name="storyboards"),
    path("studio/storyboards/new/", start.new_storyboard, name="new-storyboard"),
    path(
        "studio/storyboards/<uuid:storyboard_id>/writing/", writing.write, name="storyboard-writing"
    ),
    path(
        "studio/storyboards/<uuid:storyboard_id>/duplicates/",
        list_views.duplicate,
        name="storyboard-duplicates",
    ),
    path(
        "studio/storyboards/<uuid:storyboard_id>/deletion/",
        list_views.delete,
        name="storyboard-deletion",
    ),
    path(
        "studio/storyboards/<uuid:storyboard_id>/restorations/",
        list_views.restore,
        name="storyboard-restorations",
    ),
]
