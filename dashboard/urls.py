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
    path("preferences/theme/", preferences.set_theme, name="theme"),
    path("preferences/team/", preferences.switch_team, name="team"),
    path("session/", preferences.check_session, name="session"),
    path("service/", preferences.show_service_status, name="service"),
    # The overview and the library
    path("", overview.overview, name="overview"),
    path("library/", library.library, name="library"),
    path("videos/<uuid:job_id>/", library.video, name="video"),
    path("videos/<uuid:job_id>/acts/", library.video_actions, name="video-acts"),
    path("videos/<uuid:job_id>/hiding/", library.hide_video, name="video-hiding"),
    path("videos/<uuid:job_id>/looks/", library.check_video_now, name="video-looks"),
    path("videos/<uuid:job_id>/media/", media.media, name="video-media"),
    path("videos/<uuid:job_id>/restorations/", library.restore_video, name="video-restorations"),
    path("videos/<uuid:job_id>/retries/", library.retry_video, name="video-retries"),
    path("live/", live.open_event_stream, name="live"),
    # The studio
    path("studio/", studio.studio, name="studio"),
    path("studio/drafts/", studio.create_draft, name="drafts"),
    path("studio/<uuid:job_id>/scripts/", studio.request_script, name="studio-scripts"),
    path("studio/<uuid:job_id>/price/", studio.draft_price, name="studio-price"),
    path("studio/<uuid:job_id>/renders/", studio.render_draft, name="studio-renders"),
    path("studio/<uuid:job_id>/<slug:step>/", studio.draft_step, name="studio-step"),
    # Budgets, and asks for more
    path("budgets/", budgets.budgets, name="budgets"),
    path("budgets/additions/", budgets.add_budget, name="budget-additions"),
    path("budgets/<uuid:budget_id>/limits/", budgets.change_limits, name="budget-limits"),
    path("budgets/<uuid:budget_id>/endings/", budgets.end_budget, name="budget-endings"),
    path("asks/<uuid:ask_id>/approvals/", asks.approve_request, name="ask-approvals"),
    path("asks/<uuid:ask_id>/refusals/", asks.decline_request, name="ask-refusals"),
    path("asks/<uuid:ask_id>/withdrawals/", asks.withdraw_request, name="ask-withdrawals"),
    # The ledger
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/charts/", ledger.charts, name="ledger-charts"),
    path("ledger/export/", ledger_export.export_ledger, name="ledger-export"),
    path("ledger/<uuid:account_id>/<int:position>/", ledger.entry, name="ledger-entry"),
    # Forecast and automatic top-up
    path("forecast/", forecast.forecast, name="forecast"),
    path("top-up/", top_up.top_up, name="top-up"),
    path("top-up/state/", top_up.top_up_state, name="top-up-state"),
    path("top-up/what-if/", top_up.what_if, name="top-up-what-if"),
    path("top-up/changes/", top_up.change_setting, name="top-up-changes"),
    path("top-up/packs/", top_up.add_credit_pack, name="credit-packs"),
    path(
        "top-up/packs/<int:pack_id>/removals/",
        top_up.remove_credit_pack,
        name="credit-pack-removals",
    ),
    # The books
    path("costs/", costs.costs, name="costs"),
    path("reconciliation/", reconciliation.reconciliation, name="reconciliation"),
    path(
        "reconciliation/charges/<uuid:charge_id>/looks/",
        reconciliation.check_charge_now,
        name="charge-looks",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/write-offs/",
        reconciliation.write_off_charge,
        name="charge-write-offs",
    ),
    path(
        "reconciliation/charges/<uuid:charge_id>/matches/",
        reconciliation.match_charge,
        name="charge-matches",
    ),
    path(
        "reconciliation/rewrites/<int:rewrite_id>/acceptances/",
        reconciliation.accept_ledger_version,
        name="rewrite-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/acceptances/",
        reconciliation.accept_all_ledger_versions,
        name="account-acceptances",
    ),
    path(
        "reconciliation/accounts/<uuid:account_id>/anchors/",
        reconciliation.rebase_account,
        name="account-anchors",
    ),
    # Alerts
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/rules/", alerts.update_rules, name="alert-rules"),
    path("alerts/rules/additions/", alerts.add_rule, name="alert-additions"),
    path("alerts/webhook/", alerts.set_webhook, name="alert-webhook"),
    path("alerts/webhook/removals/", alerts.remove_webhook, name="alert-webhook-removals"),
    path("alerts/tests/", alerts.send_test_alerts, name="alert-tests"),
    path("notices/", alerts.unread_badge, name="notices"),
    path("notices/readings/", alerts.mark_alerts_read, name="notice-readings"),
    # The team
    path("members/", members.members, name="members"),
    path("members/zone/", members.update_time_zone, name="team-zone"),
    path("members/<int:membership_id>/roles/", members.update_role, name="member-roles"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens/<uuid:token_id>/removals/", tokens.delete_token, name="token-removals"),
]

handler400 = "dashboard.views.errors.bad_request"
handler403 = "dashboard.views.errors.forbidden"
handler404 = "dashboard.views.errors.page_not_found"
handler500 = "dashboard.views.errors.server_error"
