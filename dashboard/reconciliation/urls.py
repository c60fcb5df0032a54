"""URLs of the reconciliation."""

from __future__ import annotations

from django.urls import path

from dashboard.reconciliation import views

urlpatterns = [
    path("reconciliation/", views.reconciliation, name="reconciliation"),
    path(
        "reconciliation/charges/<uuid:charge_id>/checks/",
        views.check_charge_now,
        name="charge-checks",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/write-offs/",
        views.write_off_charge,
        name="charge-write-offs",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/matches/",
        views.match_charge,
        name="charge-matches",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/match-removals/",
        views.take_match_back,
        name="charge-match-removals",
    ),
    path(
        "reconciliation/conflicts/<int:rewrite_id>/acceptances/",
        views.accept_ledger_version,
        name="conflict-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/acceptances/",
        views.accept_all_ledger_versions,
        name="account-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/opening-balances/",
        views.rebase_account,
        name="account-opening-balances",
    ),
]
