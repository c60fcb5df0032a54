"""URLs of the video library and of each video."""

from __future__ import annotations

from django.urls import path

from dashboard.library.views import media, videos

urlpatterns = [
    path("library/", videos.library, name="library"),
    path("videos/<uuid:job_id>/", videos.video, name="video"),
    path("videos/<uuid:job_id>/actions/", videos.video_actions, name="video-actions"),
    path("videos/<uuid:job_id>/hide/", videos.hide_video, name="video-hide"),
    path("videos/<uuid:job_id>/checks/", videos.check_video_now, name="video-checks"),
    path("videos/<uuid:job_id>/media/", media.media, name="video-media"),
    path("videos/<uuid:job_id>/parts/<uuid:part_id>/media/", media.part_media, name="part-media"),
    path("videos/<uuid:job_id>/restorations/", videos.restore_video, name="video-restorations"),
    path("videos/<uuid:job_id>/retries/", videos.retry_video, name="video-retries"),
]
