"""URLs of the ledger."""

from __future__ import annotations

from django.urls import path

from dashboard.ledger import views

urlpatterns = [
    path("ledger/", views.ledger, name="ledger"),
    path("ledger/charts/", views.charts, name="ledger-charts"),
    path("ledger/export/", views.export_ledger, name="ledger-export"),
    path("ledger/<uuid:account_id>/<int:position>/", views.entry, name="ledger-entry"),
]
