"""How long a session lasts after sign-in, and after its last use.

Of a person's teams, the shortest of each counts; a team that chose none has the installation's.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from django.conf import settings
from django.utils import timezone

from dashboard.models import Team, TeamSecurity

SIGNED_IN_AT_KEY = "signed_in_at"  # in the session, seconds since 1970


class SessionLimits(NamedTuple):
    hours: int
    idle_minutes: int


def default_session_limits() -> SessionLimits:
    return SessionLimits(settings.SESSION_HOURS, settings.SESSION_IDLE_MINUTES)


def team_session_limits(security: TeamSecurity | None) -> SessionLimits:
    default = default_session_limits()
    if security is None:
        return default
    return SessionLimits(
        security.session_hours or default.hours,
        security.session_idle_minutes or default.idle_minutes,
    )


def shortest_session_limits(teams: Iterable[SessionLimits]) -> SessionLimits:
    """Return the limits of a person in these teams; the installation's without a team."""
    rows = list(teams) or [default_session_limits()]
    return SessionLimits(min(row.hours for row in rows), min(row.idle_minutes for row in rows))


def load_session_limits(user_ids: Iterable[int]) -> dict[int, SessionLimits]:
    """Return the limits of each of these users; one query."""
    users: dict[int, list[SessionLimits]] = {user_id: [] for user_id in user_ids}
    teams = Team.objects.filter(memberships__user__in=users)
    rows = teams.values_list(
        "memberships__user",
        "security_settings__session_hours",
        "security_settings__session_idle_minutes",
    )
    default = default_session_limits()
    for user_id, hours, idle_minutes in rows:
        limits = SessionLimits(hours or default.hours, idle_minutes or default.idle_minutes)
        users[user_id].append(limits)
    return {user_id: shortest_session_limits(teams) for user_id, teams in users.items()}


def session_end(signed_in_at: int | None, used_at: datetime, limits: SessionLimits) -> datetime:
    """Return when a session ends that was last used at `used_at`. `signed_in_at`: seconds since
    1970; None for a session without a sign-in, which counts from now."""
    signed_in = timezone.now()
    if signed_in_at is not None:
        signed_in = datetime.fromtimestamp(signed_in_at, UTC)
    idle_end = used_at + timedelta(minutes=limits.idle_minutes)
    return min(idle_end, signed_in + timedelta(hours=limits.hours))
