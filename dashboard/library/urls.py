"""URLs of the video library and of each video."""

from __future__ import annotations

from django.urls import path

from dashboard.library.views import labels, media, selection, versions, videos

urlpatterns = [
    path("library/", videos.library, name="library"),
    path("library/imports/", videos.ImportVideo.as_view(), name="library-imports"),
    path("library/labels/", labels.labels, name="labels"),
    path("library/labels/new/", labels.AddLabel.as_view(), name="label-new"),
    path("library/labels/<uuid:label_id>/name/", labels.RenameLabel.as_view(), name="label-name"),
    path(
        "library/labels/<uuid:label_id>/removals/",
        labels.DeleteLabel.as_view(),
        name="label-removals",
    ),
    path("library/selection/labels/", selection.LabelVideos.as_view(), name="selection-labels"),
    path("library/selection/hide/", selection.hide_videos, name="selection-hide"),
    path(
        "library/selection/restorations/", selection.restore_videos, name="selection-restorations"
    ),
    path("library/versions/<uuid:group_id>/", versions.versions, name="video-versions"),
    path(
        "library/versions/<uuid:group_id>/choices/",
        versions.choose_version,
        name="video-version-choices",
    ),
    path("library/undo/<uuid:change_id>/", selection.undo_change, name="library-undo"),
    path("videos/<uuid:job_id>/", videos.video, name="video"),
    path("videos/<uuid:job_id>/actions/", videos.video_actions, name="video-actions"),
    path("videos/<uuid:job_id>/menu/", videos.video_menu, name="video-menu"),
    path("videos/<uuid:job_id>/hide/", videos.HideVideo.as_view(), name="video-hide"),
    path("videos/<uuid:job_id>/checks/", videos.check_video_now, name="video-checks"),
    path("videos/<uuid:job_id>/media/", media.media, name="video-media"),
    path("videos/<uuid:job_id>/parts/<uuid:part_id>/media/", media.part_media, name="part-media"),
    path("videos/<uuid:job_id>/poster/", media.poster, name="video-poster"),
    path("videos/<uuid:job_id>/restorations/", videos.restore_video, name="video-restorations"),
    path("videos/<uuid:job_id>/retries/", videos.RetryVideo.as_view(), name="video-retries"),
]
