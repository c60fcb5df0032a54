"""URLs of the ledger."""

from __future__ import annotations

from django.urls import path

from dashboard.ledger import views

urlpatterns = [
    path("ledger/", views.ledger, name="ledger"),
    path("ledger/charts/", views.charts, name="ledger-charts"),
    path("ledger/export/", views.export_ledger, name="ledger-export"),
    path("ledger/report/", views.report, name="ledger-report"),
    path("ledger/report/export/", views.export_report, name="ledger-report-export"),
    path(
        "ledger/report/recipients/",
        views.ReportRecipients.as_view(),
        name="ledger-report-recipients",
    ),
    path("ledger/report/mails/", views.send_report, name="ledger-report-mails"),
    path("ledger/<uuid:account_id>/<int:position>/", views.entry, name="ledger-entry"),
]
