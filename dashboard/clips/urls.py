"""URLs of clips: the composer with the newest clips, drafts, prices and references."""

from __future__ import annotations

from django.urls import path

from dashboard.clips.views import composer, generations, references

urlpatterns = [
    path("studio/clips/", composer.clips, name="clips"),
    path("studio/clips/drafts/", composer.save_draft, name="clip-drafts"),
    path("studio/clips/frames/", references.frame_sources, name="clip-frames"),
    path("studio/clips/<uuid:clip_id>/price/", generations.clip_price, name="clip-price"),
    path(
        "studio/clips/<uuid:clip_id>/generations/",
        generations.GenerateClip.as_view(),
        name="clip-generations",
    ),
    path(
        "studio/clips/<uuid:clip_id>/references/<slug:name>/",
        references.reference,
        name="clip-reference",
    ),
]
