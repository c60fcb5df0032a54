"""End what waits in the name of a member who loses a role or leaves the team.

The caller has locked the members of the team; here approval requests are locked before accounts,
then invitations and ownership transfers.
"""

from __future__ import annotations

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    Invitation,
    InvitationState,
    Membership,
    OwnershipTransfer,
    Role,
    TransferState,
)
from dashboard.shared.approvals import close_request, lock_pending_request
from dashboard.shared.audit_log import AuditActor, record_audit_event
from dashboard.shared.roles import Permission, invitable_roles, role_allows
from proxyapi.charges import cancel_held_charge
from proxyapi.models import Charge, ChargeState

REQUESTER_LOWERED = "{name} may no longer create videos. Nothing was sent."
LOWERED_BEFORE_SENDING = "{name} may no longer create videos. Nothing was charged."


def end_what_role_allowed(member: Membership, actor: AuditActor) -> None:
    """End what the member began with an earlier role and could not begin with the current one."""
    if not role_allows(member.role, Permission.RENDER):
        withdraw_member_requests(member, actor, REQUESTER_LOWERED)
        cancel_unsent_charges(member, LOWERED_BEFORE_SENDING)
    end_offers(member, actor, Role(member.role))


def end_offers(member: Membership, actor: AuditActor, role: Role | None) -> None:
    """Revoke the invitations that the member sent and could not send with `role`, and end transfers
    of ownership from or to the member. Without a role the member is leaving.

    A link that outlived the right to invite would let its inviter back in by a second address.
    """
    sent = Invitation.objects.pending().filter(team=member.team, invited_by=member.user)
    sent = sent.filter(founds_team=False).exclude(role__in=invitable_roles(role) if role else ())
    for invitation in sent.select_for_update():
        end_invitation(invitation, actor)
    transfers = OwnershipTransfer.objects.filter(team=member.team, state=TransferState.PENDING)
    for transfer in transfers.select_for_update(of=("self",)).select_related("to_user"):
        from_member = transfer.from_user_id == member.user_id and role != Role.OWNER
        if from_member or (transfer.to_user_id == member.user_id and role is None):
            transfer.end(TransferState.LAPSED)
            before = {"to": str(transfer.to_user)}
            record_audit_event(actor, AuditAction.OWNERSHIP_WITHDRAW, transfer.pk, before=before)


def end_invitation(row: Invitation, by: Membership | AuditActor) -> None:
    """Revoke a pending invitation, which the caller has locked."""
    row.end(InvitationState.REVOKED)
    before = {"address": row.address, "role": row.role}
    record_audit_event(by, AuditAction.INVITATION_REVOKE, row.pk, before=before)


def inviter_may_invite(invitation: Invitation) -> bool:
    """Whether who sent the invitation could still send it: a link is worth no more than the right
    of its inviter now."""
    inviter = invitation.invited_by
    if invitation.founds_team:
        return inviter.is_active and inviter.is_superuser
    members = Membership.objects.filter(team=invitation.team_id, user=inviter)
    member = members.filter(user__is_active=True).first()
    return member is not None and invitation.role in invitable_roles(member.role)


def withdraw_member_requests(member: Membership, actor: AuditActor, reason: str) -> int:
    """`reason` has a place for the member's name."""
    requests = list(ApprovalRequest.objects.pending().filter(team=member.team, member=member.user))
    for request in requests:
        close_request(
            member,
            lock_pending_request(request),
            ApprovalDecision.WITHDRAWN,
            reason.format(name=member.user),
            recorded_as=actor,
        )
    return len(requests)


def cancel_unsent_charges(member: Membership, reason: str) -> int:
    """Cancel held charges and return how many; those that a worker has claimed are settled by their
    answer. `reason` has a place for the member's name."""
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    charges = charges.filter(state=ChargeState.HELD).order_by("account_id", "pk")
    sentence = reason.format(name=member.user)
    return sum(
        cancel_held_charge(charge, sentence) for charge in charges.select_related("account", "job")
    )
