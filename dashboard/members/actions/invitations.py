"""Invite addresses to a team, mail an invitation again, revoke it, take that back."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.models import (
    INVITATION_LIFETIME,
    AuditAction,
    Invitation,
    InvitationState,
    Membership,
    Role,
)
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import AuditActor, append_audit_rows_last, record_audit_event
from dashboard.shared.pending_rights import end_invitation
from dashboard.shared.roles import Permission, invitable_roles
from dashboard.shared.team_security import check_address_allowed
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import StaleData

BEYOND_OWN_ROLE = "You can only invite people with roles whose permissions you have yourself."
ALREADY_ENDED = "This invitation was accepted or revoked meanwhile. Nothing was changed."
INVITED_MEANWHILE = "{address} was invited meanwhile. Nothing was sent."
JOINED_MEANWHILE = "{address} is a member already. Nothing was sent."


def invite_people(
    *, by: Membership, addresses: Sequence[str], role: Role, message: str
) -> list[Invitation]:
    """Write an invitation for each address and have it mailed. All of them, or none.

    An expired invitation of an address is replaced. Raises PermissionDenied, `Refusal` for an
    address that the team does not accept, and `StaleData` if one was invited meanwhile.
    """
    check_can_invite(by, role)
    for address in addresses:
        check_address_allowed(by.team, address)
    try:
        return write_invitations(by, addresses, role, message)
    except IntegrityError:
        sentence = INVITED_MEANWHILE.format(address=" or ".join(addresses))
        raise StaleData(sentence, field="addresses") from None


@transaction.atomic
@append_audit_rows_last()
def write_invitations(
    by: Membership, addresses: Sequence[str], role: Role, message: str
) -> list[Invitation]:
    now = timezone.now()
    expired = by.team.invitations.pending().filter(address__in=addresses, expires_at__lte=now)
    expired.update(state=InvitationState.REVOKED, ended_at=now)
    invitations = [
        Invitation(team=by.team, address=address, role=role, message=message, invited_by=by.user)
        for address in addresses
    ]
    for invitation in invitations:
        renew_invitation(invitation)
        invitation.save(force_insert=True)
        after = {"address": invitation.address, "role": role}
        record_audit_event(by, AuditAction.INVITATION_CREATE, invitation.pk, after=after)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    return invitations


@transaction.atomic
@append_audit_rows_last()
def resend_invitation(*, by: Membership, invitation: Invitation) -> None:
    """Mail a new link, valid for the whole lifetime again; the link before ends at once. Who mails
    it again is its inviter from then on."""
    row = lock_pending_invitation(by, invitation)
    check_can_invite(by, Role(row.role))
    check_address_allowed(by.team, row.address)
    if Membership.with_deactivated.filter(team=by.team, user__email=row.address).exists():
        raise StaleData(JOINED_MEANWHILE.format(address=row.address))
    renew_invitation(row)
    row.invited_by = by.user
    row.save()
    record_audit_event(
        by, AuditAction.INVITATION_RESEND, row.pk, after={"address": row.address, "role": row.role}
    )
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


@transaction.atomic
@append_audit_rows_last()
def revoke_invitation(*, by: Membership, invitation: Invitation) -> None:
    end_invitation(lock_pending_invitation(by, invitation), by)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


def revoke_member_invitations(member: Membership, actor: AuditActor) -> None:
    """Revoke what waits for the address of a member who is removed: a link from before they joined
    in another way would bring them back."""
    pending = member.team.invitations.pending().filter(address=member.user.email)
    for row in pending.select_for_update():
        end_invitation(row, actor)


@transaction.atomic
@append_audit_rows_last()
def restore_invitation(*, by: Membership, invitation: Invitation) -> None:
    """Undo a revocation: the mailed link works again, or the mail is sent if it was not. Who takes
    it back is its inviter from then on."""
    row = Invitation.objects.select_for_update().get(pk=invitation.pk)
    check_can_invite(by, Role(row.role))
    others = by.team.invitations.pending().filter(address=row.address)
    if row.state != InvitationState.REVOKED or others.exists():
        raise StaleData(ALREADY_ENDED)
    row.state, row.ended_at, row.invited_by = InvitationState.PENDING, None, by.user
    row.save(update_fields=["state", "ended_at", "invited_by"])
    if not row.mail_sent_at:
        request_invitation_mail(row)
        row.save(update_fields=["mail_due_at"])
    after = {"address": row.address, "role": row.role}
    record_audit_event(by, AuditAction.INVITATION_RESTORE, row.pk, after=after)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


def check_can_invite(by: Membership, role: Role) -> None:
    check_permission(by, Permission.MANAGE_MEMBERS)
    if role not in invitable_roles(by.role):
        raise PermissionDenied(BEYOND_OWN_ROLE)


def lock_pending_invitation(by: Membership, invitation: Invitation) -> Invitation:
    check_permission(by, Permission.MANAGE_MEMBERS)
    row = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if row.state != InvitationState.PENDING:
        raise StaleData(ALREADY_ENDED)
    return row


def renew_invitation(invitation: Invitation) -> None:
    """Start its lifetime anew, without a link until the mail is sent."""
    invitation.expires_at = timezone.now() + INVITATION_LIFETIME
    invitation.key_hash, invitation.opened_at = "", None
    invitation.mail_attempts, invitation.mail_error, invitation.mail_sent_at = 0, "", None
    request_invitation_mail(invitation)


def request_invitation_mail(invitation: Invitation) -> None:
    """Have the mail sent now; the caller saves the row."""
    invitation.mail_due_at = timezone.now()
    enqueue.enqueue_after_commit(enqueue.INVITATION_MAIL_TASK, invitation.pk)
