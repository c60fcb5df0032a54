"""The data of the security page."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models import Membership


@dataclass(frozen=True, slots=True)
class SecurityPage:
    """The whole page; each card has its own part."""

    team: str
    member_count: int


def build_security_page(reader: Membership) -> SecurityPage:
    return SecurityPage(team=reader.team.name, member_count=reader.team.memberships.count())
