"""URLs of the team's security."""

from __future__ import annotations

from django.urls import path

from dashboard.security.views import domains, page, sessions, two_factor

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
    path("security/sign-outs/", sessions.sign_out_everyone, name="team-sign-outs"),
    path("two-factor-required/", two_factor.two_factor_required, name="two-factor-required"),
]
