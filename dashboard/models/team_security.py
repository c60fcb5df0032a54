"""How people sign in to a team: second factor, allowed e-mail domains, length of sessions.

A team without a row has the defaults; the row is written when somebody first changes one.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from dashboard.models.membership import Team

MAX_SESSION_HOURS = 30 * 24
MIN_SESSION_IDLE_MINUTES, MAX_SESSION_IDLE_MINUTES = 15, 7 * 24 * 60


class TeamSecurity(models.Model):
    team = models.OneToOneField(
        Team, models.CASCADE, primary_key=True, related_name="security_settings"
    )
    require_two_factor = models.BooleanField(default=False)
    two_factor_required_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when every member needs a second factor."
    )
    allowed_domains = models.JSONField(
        default=list,
        blank=True,
        help_text="Domains of addresses that may be invited, in ASCII and lower case; empty: any.",
    )
    session_hours = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="From sign-in to the end; null: the installation's."
    )
    session_idle_minutes = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="From the last use to the end; null: the installation's."
    )
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(session_hours__isnull=True)
                | Q(session_hours__gte=1, session_hours__lte=MAX_SESSION_HOURS),
                name="team_security_session_hours",
            ),
            models.CheckConstraint(
                condition=Q(session_idle_minutes__isnull=True)
                | Q(
                    session_idle_minutes__gte=MIN_SESSION_IDLE_MINUTES,
                    session_idle_minutes__lte=MAX_SESSION_IDLE_MINUTES,
                ),
                name="team_security_session_idle",
            ),
            models.CheckConstraint(
                condition=Q(require_two_factor=True, two_factor_required_at__isnull=False)
                | Q(require_two_factor=False, two_factor_required_at__isnull=True),
                name="team_security_two_factor_since",
            ),
        ]

    def __str__(self) -> str:
        return f"security of {self.team}"
