"""Every address of the site. Nouns; an action becomes a noun."""

from __future__ import annotations

from allauth.account import views as allauth
from django.urls import URLPattern, URLResolver, include, path, re_path

from dashboard.views import (
    accounts,
    alerts,
    asks,
    budgets,
    costs,
    forecast,
    health,
    ledger,
    ledger_export,
    library,
    live,
    media,
    members,
    overview,
    preferences,
    reconciliation,
    studio,
    tokens,
    top_up,
)

# The pages of allauth that Reelroom uses, under the names by which allauth links them. Its other
# pages do not exist here: people are added by an operator and keep their address.
ACCOUNT_URLS = [
    path("login/", allauth.login, name="account_login"),
    path("logout/", allauth.logout, name="account_logout"),
    path("inactive/", allauth.account_inactive, name="account_inactive"),
    path("signup/", allauth.signup, name="account_signup"),
    path("password/change/", allauth.password_change, name="account_change_password"),
    path("password/reset/", accounts.password_reset, name="account_reset_password"),
    path("password/reset/done/", allauth.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        accounts.PasswordResetFromKey.as_view(),
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        allauth.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
]

urlpatterns: list[URLPattern | URLResolver] = [
    # For whoever watches over the process
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("accounts/", include(ACCOUNT_URLS)),
    # The person and the shell
    path("preferences/theme/", preferences.theme, name="theme"),
    path("preferences/team/", preferences.team, name="team"),
    path("session/", preferences.session, name="session"),
    path("service/", preferences.service, name="service"),
    # The overview and the library
    path("", overview.overview, name="overview"),
    path("library/", library.library, name="library"),
    path("videos/<uuid:job_id>/", library.video, name="video"),
    path("videos/<uuid:job_id>/acts/", library.acts, name="video-acts"),
    path("videos/<uuid:job_id>/hiding/", library.hiding, name="video-hiding"),
    path("videos/<uuid:job_id>/looks/", library.looks, name="video-looks"),
    path("videos/<uuid:job_id>/media/", media.media, name="video-media"),
    path("videos/<uuid:job_id>/restorations/", library.restorations, name="video-restorations"),
    path("videos/<uuid:job_id>/retries/", library.retries, name="video-retries"),
    path("live/", live.live, name="live"),
    # The studio
    path("studio/", studio.studio, name="studio"),
    path("studio/drafts/", studio.drafts, name="drafts"),
    path("studio/<uuid:job_id>/scripts/", studio.scripts, name="studio-scripts"),
    path("studio/<uuid:job_id>/price/", studio.price, name="studio-price"),
    path("studio/<uuid:job_id>/renders/", studio.renders, name="studio-renders"),
    path("studio/<uuid:job_id>/<slug:step>/", studio.step, name="studio-step"),
    # Budgets, and asks for more
    path("budgets/", budgets.budgets, name="budgets"),
    path("budgets/additions/", budgets.additions, name="budget-additions"),
    path("budgets/<uuid:budget_id>/limits/", budgets.limits, name="budget-limits"),
    path("budgets/<uuid:budget_id>/endings/", budgets.endings, name="budget-endings"),
    path("asks/<uuid:ask_id>/approvals/", asks.approvals, name="ask-approvals"),
    path("asks/<uuid:ask_id>/refusals/", asks.refusals, name="ask-refusals"),
    path("asks/<uuid:ask_id>/withdrawals/", asks.withdrawals, name="ask-withdrawals"),
    # The ledger
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/charts/", ledger.charts, name="ledger-charts"),
    path("ledger/export/", ledger_export.export, name="ledger-export"),
    path("ledger/<uuid:account_id>/<int:position>/", ledger.entry, name="ledger-entry"),
    # Forecast and automatic top-up
    path("forecast/", forecast.forecast, name="forecast"),
    path("top-up/", top_up.top_up, name="top-up"),
    path("top-up/state/", top_up.state, name="top-up-state"),
    path("top-up/what-if/", top_up.what_if, name="top-up-what-if"),
    path("top-up/changes/", top_up.changes, name="top-up-changes"),
    path("top-up/packs/", top_up.packs, name="credit-packs"),
    path("top-up/packs/<int:pack_id>/removals/", top_up.pack_removals, name="credit-pack-removals"),
    # The books
    path("costs/", costs.costs, name="costs"),
    path("reconciliation/", reconciliation.reconciliation, name="reconciliation"),
    path(
        "reconciliation/charges/<uuid:charge_id>/looks/",
        reconciliation.looks,
        name="charge-looks",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/write-offs/",
        reconciliation.write_offs,
        name="charge-write-offs",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/matches/",
        reconciliation.matches,
        name="charge-matches",
    ),
    path(
        "reconciliation/rewrites/<int:rewrite_id>/acceptances/",
        reconciliation.acceptances,
        name="rewrite-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/acceptances/",
        reconciliation.account_acceptances,
        name="account-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/anchors/",
        reconciliation.anchors,
        name="account-anchors",
    ),
    # Alerts
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/rules/", alerts.rules, name="alert-rules"),
    path("alerts/rules/additions/", alerts.additions, name="alert-additions"),
    path("alerts/webhook/", alerts.webhook, name="alert-webhook"),
    path("alerts/webhook/removals/", alerts.webhook_removals, name="alert-webhook-removals"),
    path("alerts/tests/", alerts.tests, name="alert-tests"),
    path("notices/", alerts.notices, name="notices"),
    path("notices/readings/", alerts.readings, name="notice-readings"),
    # The team
    path("members/", members.members, name="members"),
    path("members/zone/", members.zone, name="team-zone"),
    path("members/<int:membership_id>/roles/", members.roles, name="member-roles"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<uuid:token_id>/removals/", tokens.removals, name="token-removals"),
]

handler400 = "dashboard.views.errors.bad_request"
handler403 = "dashboard.views.errors.forbidden"
handler404 = "dashboard.views.errors.missing"
handler500 = "dashboard.views.errors.broken"
