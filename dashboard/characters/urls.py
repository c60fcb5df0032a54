"""URLs of characters, their steps, previews and training."""

from __future__ import annotations

from django.urls import path

from dashboard.characters.views import characters, steps, training

urlpatterns = [
    path("characters/", characters.characters, name="characters"),
    path("characters/new/", steps.new_character, name="character-new"),
    path("characters/<uuid:job_id>/", characters.character, name="character"),
    path("characters/<uuid:job_id>/photo/", characters.photo, name="character-photo"),
    path(
        "characters/<uuid:job_id>/hide/", characters.HideCharacter.as_view(), name="character-hide"
    ),
    path(
        "characters/<uuid:job_id>/restorations/",
        characters.restore_character,
        name="character-restorations",
    ),
    path("characters/<uuid:job_id>/checks/", characters.check_character, name="character-checks"),
    path(
        "characters/<uuid:job_id>/previews/",
        training.RequestPreview.as_view(),
        name="character-previews",
    ),
    path("characters/<uuid:job_id>/choices/", training.choose, name="character-choices"),
    path(
        "characters/<uuid:job_id>/pictures/<uuid:part_id>/",
        training.picture,
        name="character-picture",
    ),
    path(
        "characters/<uuid:job_id>/training/",
        training.TrainCharacter.as_view(),
        name="character-training",
    ),
    path("characters/<uuid:job_id>/steps/<slug:step>/", steps.step, name="character-step"),
]
