"""Second factors of people, and teams that require one."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.utils import timezone

from dashboard.models import Membership, Team, TeamSecurity


def give_second_factor(*members: Membership) -> None:
    for member in members:
        Authenticator.objects.create(user=member.user, type=Authenticator.Type.TOTP, data={})


def require_two_factor(team: Team) -> TeamSecurity:
    return TeamSecurity.objects.create(
        team=team, require_two_factor=True, two_factor_required_at=timezone.now()
    )
