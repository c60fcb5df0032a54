"""URLs of storyboards: the list, a new one, the editor, scenes, clips and the render."""

from __future__ import annotations

from django.urls import path

from dashboard.storyboards.views import (
    additions,
    charges,
    editor,
    frames,
    kept_clips,
    scenes,
    settings,
    start,
    writing,
)
from dashboard.storyboards.views import list as list_views

STORYBOARD = "studio/storyboards/<uuid:storyboard_id>/"
SCENE = f"{STORYBOARD}scenes/<uuid:scene_id>/"

urlpatterns = [
    path("studio/storyboards/", list_views.storyboards, name="storyboards"),
    path("studio/storyboards/new/", start.new_storyboard, name="new-storyboard"),
    path(
        "studio/storyboards/additions/<uuid:clip_id>/",
        additions.add_clip,
        name="storyboard-additions",
    ),
    path(STORYBOARD, editor.storyboard, name="storyboard"),
    path(f"{STORYBOARD}presence/", editor.presence, name="storyboard-presence"),
    path(f"{STORYBOARD}scenes/", scenes.scenes, name="storyboard-scenes"),
    path(SCENE, scenes.scene, name="storyboard-scene"),
    path(f"{SCENE}frames/<slug:name>/", frames.frame, name="storyboard-frame"),
    path(f"{STORYBOARD}settings/", settings.settings, name="storyboard-settings"),
    path(f"{STORYBOARD}durations/", settings.durations, name="storyboard-durations"),
    path(f"{STORYBOARD}clips/", charges.GenerateClips.as_view(), name="storyboard-clips"),
    path(f"{STORYBOARD}kept-clips/", kept_clips.kept_clips, name="storyboard-kept-clips"),
    path(f"{STORYBOARD}price/", charges.price, name="storyboard-price"),
    path(f"{STORYBOARD}render/", charges.RenderFilm.as_view(), name="storyboard-render"),
    path(f"{STORYBOARD}writing/", writing.WriteScenes.as_view(), name="storyboard-writing"),
    path(f"{STORYBOARD}duplicates/", list_views.duplicate, name="storyboard-duplicates"),
    path(
        f"{STORYBOARD}deletion/", list_views.DeleteStoryboard.as_view(), name="storyboard-deletion"
    ),
    path(f"{STORYBOARD}restorations/", list_views.restore, name="storyboard-restorations"),
]
