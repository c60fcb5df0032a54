"""URLs of the reconciliation."""

from __future__ import annotations

from django.urls import path

from dashboard.reconciliation import outside_sources, views

urlpatterns = [
    path("reconciliation/", views.reconciliation, name="reconciliation"),
    path(
        "reconciliation/charges/<uuid:charge_id>/checks/",
        views.check_charge_now,
        name="charge-checks",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/write-offs/",
        views.WriteOffCharge.as_view(),
        name="charge-write-offs",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/matches/",
        views.MatchCharge.as_view(),
        name="charge-matches",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/match-removals/",
        views.RemoveMatch.as_view(),
        name="charge-match-removals",
    ),
    path(
        "reconciliation/conflicts/<int:rewrite_id>/acceptances/",
        views.AcceptLedgerVersion.as_view(),
        name="conflict-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/acceptances/",
        views.AcceptAllLedgerVersions.as_view(),
        name="account-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/opening-balances/",
        views.RebaseAccount.as_view(),
        name="account-opening-balances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/outside-sources/new/",
        outside_sources.NameOutsideSpend.as_view(),
        name="outside-source-new",
    ),
    path(
        "reconciliation/outside-sources/<int:source_id>/",
        outside_sources.ChangeOutsideSource.as_view(),
        name="outside-source",
    ),
    path(
        "reconciliation/outside-sources/<int:source_id>/removals/",
        outside_sources.remove_source,
        name="outside-source-removals",
    ),
]
