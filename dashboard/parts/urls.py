"""URLs of a video's scenes and exports."""

from __future__ import annotations

from django.urls import path

from dashboard.parts.views import exports, scenes

urlpatterns = [
    path("videos/<uuid:job_id>/scenes/", scenes.scenes, name="scenes"),
    path("videos/<uuid:job_id>/scenes/<uuid:part_id>/images/", scenes.new_image, name="new-images"),
    path("videos/<uuid:job_id>/own-media/", scenes.own_media, name="own-media"),
    path("videos/<uuid:job_id>/new-renders/", scenes.RenderAgain.as_view(), name="new-renders"),
    path("videos/<uuid:job_id>/exports/", exports.exports, name="exports"),
    path("videos/<uuid:job_id>/exports/new/", exports.NewExport.as_view(), name="export-new"),
    path("videos/<uuid:job_id>/exports/<uuid:part_id>/", exports.export, name="export"),
    path(
        "videos/<uuid:job_id>/exports/<uuid:part_id>/repeats/",
        exports.repeat_export,
        name="export-repeats",
    ),
]
