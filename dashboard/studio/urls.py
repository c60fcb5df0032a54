"""URLs of the studio: drafts and their steps."""

from __future__ import annotations

from django.urls import include, path

from dashboard.studio import views

urlpatterns = [
    path("studio/", views.studio, name="studio"),
    path("studio/drafts/", views.drafts, name="drafts"),
    path("studio/idea-drafts/", views.make_idea_drafts, name="idea-drafts"),
    path("studio/reading/", views.read_start, name="studio-reading"),
    path(
        "studio/versions/<uuid:group_id>/renders/",
        views.RenderVersions.as_view(),
        name="studio-version-renders",
    ),
    path("studio/<uuid:job_id>/", views.open_draft, name="studio-draft"),
    path("studio/<uuid:job_id>/copies/", views.copy_video, name="studio-copies"),
    path("studio/<uuid:job_id>/deletions/", views.delete_draft, name="studio-deletions"),
    path("studio/<uuid:job_id>/restorations/", views.restore_draft, name="studio-restorations"),
    path("", include("dashboard.studio.presets.urls")),
    path("studio/<uuid:job_id>/versions/", views.choose_versions, name="studio-versions"),
    path("studio/<uuid:job_id>/scripts/", views.request_script, name="studio-scripts"),
    path(
        "studio/<uuid:job_id>/scripts/<int:version_id>/restorations/",
        views.restore_script_version,
        name="studio-script-restorations",
    ),
    path("studio/<uuid:job_id>/page-read/", views.page_read, name="studio-page-read"),
    path("studio/<uuid:job_id>/images/", views.arrange_page_images, name="studio-images"),
    path("studio/<uuid:job_id>/price/", views.draft_price, name="studio-price"),
    path("studio/<uuid:job_id>/renders/", views.RenderDraft.as_view(), name="studio-renders"),
    path("studio/<uuid:job_id>/planned-renders/", views.plan_render, name="studio-planned-renders"),
    path(
        "studio/<uuid:job_id>/schedule/cancellations/",
        views.cancel_scheduled_render,
        name="studio-schedule-cancellations",
    ),
    path(
        "studio/<uuid:job_id>/schedule/restorations/",
        views.restore_scheduled_render,
        name="studio-schedule-restorations",
    ),
    path("studio/<uuid:job_id>/type/undo/", views.undo_type_change, name="studio-type-undo"),
    path("studio/<uuid:job_id>/<slug:step>/", views.draft_step, name="studio-step"),
]
