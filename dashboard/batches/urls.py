"""URLs of batches."""

from __future__ import annotations

from django.urls import path

from dashboard.batches import start_views, views

urlpatterns = [
    path("batches/", views.batches, name="batches"),
    path("batches/new/", views.new_batch, name="batch-new"),
    path("batches/of-ideas/", views.batch_of_ideas, name="batch-of-ideas"),
    path("batches/template.csv", views.template_file, name="batch-template"),
    path("batches/<uuid:batch_id>/", views.batch, name="batch"),
    path("batches/<uuid:batch_id>/rows/<int:number>/", views.RepairRow.as_view(), name="batch-row"),
    path(
        "batches/<uuid:batch_id>/starts/", start_views.StartBatchAt.as_view(), name="batch-starts"
    ),
    path(
        "batches/<uuid:batch_id>/approvals/", views.ApproveBatch.as_view(), name="batch-approvals"
    ),
    path(
        "batches/<uuid:batch_id>/start-times/",
        start_views.ScheduledStart.as_view(),
        name="batch-start-times",
    ),
    path("batches/<uuid:batch_id>/pauses/", views.pause, name="batch-pauses"),
    path(
        "batches/<uuid:batch_id>/resumptions/",
        views.ResumeBatch.as_view(),
        name="batch-resumptions",
    ),
    path(
        "batches/<uuid:batch_id>/cancellations/",
        views.CancelRest.as_view(),
        name="batch-cancellations",
    ),
    path("batches/<uuid:batch_id>/retries/", views.RetryFailed.as_view(), name="batch-retries"),
    path("batches/<uuid:batch_id>/removals/", views.RemoveBatch.as_view(), name="batch-removals"),
    path("batches/<uuid:batch_id>/results.csv", views.results_file, name="batch-results"),
]
