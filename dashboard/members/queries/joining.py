"""The data of the page on which an invited person joins."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser

from dashboard.models import Invitation, InvitationState, Role, User
from dashboard.shared.formatting import day
from dashboard.shared.roles import ROLE_DESCRIPTIONS


@dataclass(frozen=True, slots=True)
class JoinPage:
    """`signed_in_as` is the reader's address; empty if nobody is signed in. Nothing here depends on
    whether the invited address has an account."""

    team: str
    inviter: str
    role: str
    role_sentence: str
    address: str
    message: str
    expires: str
    signed_in_as: str

    @property
    def is_for_reader(self) -> bool:
        return self.signed_in_as == self.address


@dataclass(frozen=True, slots=True)
class EndedInvitation:
    title: str
    text: str


def build_join_page(invitation: Invitation, reader: User | AnonymousUser) -> JoinPage:
    local_expiry = invitation.expires_at.astimezone(invitation.team.tenant.zone)
    return JoinPage(
        team=invitation.team.name,
        inviter=str(invitation.invited_by),
        role=invitation.get_role_display().lower(),
        role_sentence=ROLE_DESCRIPTIONS[Role(invitation.role)],
        address=invitation.address,
        message=invitation.message,
        expires=f"{local_expiry.day} {local_expiry:%b, %H:%M %Z}",
        signed_in_as=reader.email if reader.is_authenticated else "",
    )


def build_ended_invitation(invitation: Invitation) -> EndedInvitation:
    """Say why the link does not work any more."""
    team, inviter = invitation.team.name, invitation.invited_by
    if invitation.state == InvitationState.ACCEPTED:
        return EndedInvitation(
            "This invitation was used",
            f"A link works once. If you joined {team} with it, sign in.",
        )
    if invitation.state == InvitationState.REVOKED:
        return EndedInvitation(
            "This invitation was revoked",
            f"Ask {inviter} or another admin of {team} whether you should get a new one.",
        )
    if not invitation.is_expired:
        return EndedInvitation(
            "This invitation does not count any more",
            f"{inviter} may not invite people to {team} with this role now. Ask another admin.",
        )
    return EndedInvitation(
        f"This invitation expired {day(invitation.expires_at)}",
        f"A link works for 7 days. Ask {inviter} or another admin of {team} for a new one.",
    )
