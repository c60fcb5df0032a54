"""URLs of storyboards: the list, a new one, the editor, scenes, clips and the render."""

from __future__ import annotations

from django.urls import path

from dashboard.storyboards.views import editor, frames, scenes

STORYBOARD = "studio/storyboards/<uuid:storyboard_id>/"
SCENE = f"{STORYBOARD}scenes/<uuid:scene_id>/"

urlpatterns = [
    path(STORYBOARD, editor.storyboard, name="storyboard"),
    path(f"{STORYBOARD}presence/", editor.presence, name="storyboard-presence"),
    path(f"{STORYBOARD}scenes/", scenes.scenes, name="storyboard-scenes"),
    path(SCENE, scenes.scene, name="storyboard-scene"),
    path(f"{SCENE}frames/<slug:name>/", frames.frame, name="storyboard-frame"),
]
