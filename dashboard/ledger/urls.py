"""Addresses of the ledger."""

from __future__ import annotations

from django.urls import path

from dashboard.ledger.views import export, pages

urlpatterns = [
    path("ledger/", pages.ledger, name="ledger"),
    path("ledger/charts/", pages.charts, name="ledger-charts"),
    path("ledger/export/", export.export_ledger, name="ledger-export"),
    path("ledger/<uuid:account_id>/<int:position>/", pages.entry, name="ledger-entry"),
]
