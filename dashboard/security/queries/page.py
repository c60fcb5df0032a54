"""The data of the security page."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.models import Membership, SignInEvent
from dashboard.security.queries.joining import JoiningCard, load_joining_card
from dashboard.security.queries.sign_ins import RecentSignIn, load_recent_sign_ins
from dashboard.security.queries.single_sign_on import SingleSignOnCard, load_single_sign_on_card
from dashboard.security.queries.two_factor import TwoFactorCard, load_two_factor_card
from dashboard.shared.user_sessions import iter_user_sessions


@dataclass(frozen=True, slots=True)
class OpenSessions:
    sessions: int
    people: int

    @property
    def sentence(self) -> str:
        """Return what ends if everybody is signed out."""
        people = "1 person" if self.people == 1 else f"{self.people} people"
        if self.sessions == 1:
            return f"1 session of {people} ends now, yours."
        return f"{self.sessions} sessions of {people} end now, yours too."


@dataclass(frozen=True, slots=True)
class SecurityPage:
    """The whole page; each card has its own part."""

    team: str
    two_factor: TwoFactorCard
    joining: JoiningCard
    single_sign_on: SingleSignOnCard
    open_sessions: OpenSessions
    sign_ins: tuple[RecentSignIn, ...]

    @property
    def member_count(self) -> int:
        return self.two_factor.total


def build_security_page(reader: Membership) -> SecurityPage:
    return SecurityPage(
        team=reader.team.name,
        two_factor=load_two_factor_card(reader),
        joining=load_joining_card(reader),
        single_sign_on=load_single_sign_on_card(reader),
        open_sessions=load_open_sessions(reader),
        # An address of nobody concerns no team.
        sign_ins=load_recent_sign_ins(
            SignInEvent.objects.filter(user__memberships__team=reader.team)
        ),
    )


def load_open_sessions(reader: Membership) -> OpenSessions:
    """Two queries."""
    members = set(reader.team.memberships.values_list("user", flat=True))
    users = [session.user_id for session in iter_user_sessions(members)]
    return OpenSessions(sessions=len(users), people=len(set(users)))
