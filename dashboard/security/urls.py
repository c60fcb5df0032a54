"""URLs of the team's security."""

from __future__ import annotations

from django.urls import path

from dashboard.security.views import domains, page, sessions, single_sign_on, two_factor

urlpatterns = [
    path("security/", page.security, name="security"),
    path("security/two-factor/", two_factor.switch_requirement, name="two-factor-requirement"),
    path(
        "security/<int:membership_id>/two-factor-reminders/",
        two_factor.remind_member,
        name="two-factor-reminders",
    ),
    path("security/domains/", domains.add_domain, name="allowed-domains"),
    path("security/domains/removals/", domains.remove_domain, name="allowed-domain-removals"),
    path("security/sessions/", sessions.update_limits, name="session-limits"),
    path("security/sign-outs/", sessions.SignEveryoneOut.as_view(), name="team-sign-outs"),
    path("security/single-sign-on/", single_sign_on.update_settings, name="sso-settings"),
    path(
        "security/single-sign-on/secrets/",
        single_sign_on.ReplaceSecret.as_view(),
        name="sso-secrets",
    ),
    path("security/single-sign-on/tests/", single_sign_on.start_test, name="sso-tests"),
    path(
        "security/single-sign-on/requirement/",
        single_sign_on.switch_requirement,
        name="sso-requirement",
    ),
    path("security/single-sign-on/removals/", single_sign_on.remove, name="sso-removals"),
    path("two-factor-required/", two_factor.two_factor_required, name="two-factor-required"),
]
