"""The invitations of a team that were not accepted, for the members page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from dashboard.models import Invitation, Membership
from dashboard.shared.formatting import clock, day
from dashboard.shared.roles import Permission, role_allows

EXPIRES_SOON = timedelta(hours=48)


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """`state`: "late" if it expires soon or its mail failed, "draft" if it expired, else ""."""

    id: UUID
    address: str
    role: str
    invited_by: str
    mail: str
    mail_failed: bool
    expires_at: datetime
    expiry: str
    is_expired: bool
    state: str


@dataclass(frozen=True, slots=True)
class InvitationList:
    rows: tuple[InvitationRow, ...]

    @property
    def open_count(self) -> int:
        return sum(not row.is_expired for row in self.rows)

    @property
    def note(self) -> str:
        expired = len(self.rows) - self.open_count
        return f"{self.open_count} open{f', {expired} expired' if expired else ''}"

    @property
    def sentence(self) -> str:
        """Return a sentence for the head of the page; empty without an open invitation."""
        if not self.open_count:
            return ""
        is_one = self.open_count == 1
        return "One invitation is open." if is_one else f"{self.open_count} invitations are open."


def load_invitations(reader: Membership) -> InvitationList | None:
    """Return the pending invitations; None if the reader does not manage members. One query."""
    if not role_allows(reader.role, Permission.MANAGE_MEMBERS):
        return None
    pending = reader.team.invitations.pending().select_related("invited_by")
    return InvitationList(tuple(build_invitation_row(row) for row in pending))


def build_invitation_row(row: Invitation) -> InvitationRow:
    is_expired, mail_failed = row.is_expired, bool(row.mail_error)
    is_soon = row.expires_at - timezone.now() < EXPIRES_SOON
    return InvitationRow(
        id=row.pk,
        address=row.address,
        role=row.get_role_display(),
        invited_by=str(row.invited_by),
        mail=invitation_mail_text(row),
        mail_failed=mail_failed and not is_expired,
        expires_at=row.expires_at,
        expiry=f"Expired {day(row.expires_at)}" if is_expired else clock(row.expires_at),
        is_expired=is_expired,
        state="draft" if is_expired else "late" if is_soon or mail_failed else "",
    )


def invitation_mail_text(row: Invitation) -> str:
    """Return what became of the mail, such as "sent 18 Nov 14:21, opened 19 Nov 09:12"."""
    if row.mail_error:
        return row.mail_error
    if row.mail_sent_at is None:
        return "not sent yet"
    opened = f"opened {clock(row.opened_at)}" if row.opened_at else "not opened yet"
    if row.is_expired and not row.opened_at:
        opened = "never opened"
    return f"sent {clock(row.mail_sent_at)}, {opened}"
