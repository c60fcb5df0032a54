"""URLs of the audit log."""

from __future__ import annotations

from django.urls import path

from dashboard.audit import views

urlpatterns = [
    path("audit/", views.audit_log, name="audit"),
    path("audit/export/", views.export_audit_log, name="audit-export"),
    path("audit/checks/", views.check_chain, name="audit-checks"),
    path("audit/<int:position>/", views.entry, name="audit-entry"),
]
