"""End what waits in the name of a member who loses a role or leaves the team, or of an API key.

The caller has locked the members of the team; here approval requests are locked before API keys and
accounts, then invitations and ownership transfers.
"""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    Invitation,
    InvitationState,
    Membership,
    OwnershipTransfer,
    Role,
    Series,
    TransferState,
)
from dashboard.shared.approvals import close_request, lock_pending_request
from dashboard.shared.audit_log import AuditActor, person_actor, record_audit_event
from dashboard.shared.roles import Permission, invitable_roles, role_allows
from proxyapi.charges import cancel_held_charge
from proxyapi.events import EventType, publish_event
from proxyapi.gateway import keys as gateway_keys
from proxyapi.models import ApiKey, Charge, ChargeState

REQUESTER_LOWERED = "{name} may no longer create videos. Nothing was sent."
LOWERED_BEFORE_SENDING = "{name} may no longer create videos. Nothing was charged."
SERIES_ENDED = "{name} may no longer create videos. Nothing of the series is started."
KEY_REVOKED = "The {noun} “{name}” was revoked before it was decided. Nothing was sent."
KEY_STOPPED = "The {noun} “{name}” was {verb} before it was sent. Nothing was charged."


def end_what_role_allowed(member: Membership, actor: AuditActor) -> None:
    """End what the member began with an earlier role and could not begin with the current one."""
    if not role_allows(member.role, Permission.RENDER):
        withdraw_member_requests(member, actor, REQUESTER_LOWERED)
        cancel_unsent_charges(member, LOWERED_BEFORE_SENDING)
        pause_member_series(member, actor)
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
    withdraw_requests(member, requests, actor, reason.format(name=member.user))
    return len(requests)


def withdraw_requests(
    by: Membership, requests: list[ApprovalRequest], actor: AuditActor, sentence: str
) -> None:
    for request in requests:
        close_request(
            by,
            lock_pending_request(request),
            ApprovalDecision.WITHDRAWN,
            sentence,
            recorded_as=actor,
        )


def cancel_unsent_charges(member: Membership, reason: str) -> int:
    """Cancel held charges and return how many; those that a worker has claimed are settled by their
    answer. `reason` has a place for the member's name."""
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    return cancel_held_charges(charges, reason.format(name=member.user))


def cancel_held_charges(charges: QuerySet[Charge], sentence: str) -> int:
    held = charges.filter(state=ChargeState.HELD).order_by("account_id", "pk")
    return sum(
        cancel_held_charge(charge, sentence) for charge in held.select_related("account", "job")
    )


def revoke_key(by: Membership, key: ApiKey, reason: str = "") -> bool:
    """End a key for good with what waits in its name: requests are withdrawn, unsent charges
    cancelled. Return whether it was not ended before."""
    pending = ApprovalRequest.objects.pending().filter(team=by.team, charge__api_key=key)
    requests = list(pending.select_for_update(of=("self",)).order_by("pk"))
    if not gateway_keys.revoke_keys([key], timezone.now()):
        return False
    actor = person_actor(by)
    withdraw_requests(by, requests, actor, KEY_REVOKED.format(noun=key.noun, name=key.name))
    cancel_key_charges(key, "revoked")
    record_key_end(actor, key, reason)
    return True


def cancel_key_charges(key: ApiKey, verb: str) -> int:
    charges = Charge.objects.filter(tenant=key.tenant_id, api_key=key)
    return cancel_held_charges(charges, KEY_STOPPED.format(noun=key.noun, name=key.name, verb=verb))


def revoke_member_keys(member: Membership, actor: AuditActor) -> int:
    """End the keys of a member who leaves, and return how many; pause their series. Their requests
    and charges are the member's: the caller withdraws and cancels them afterwards."""
    requests = ApprovalRequest.objects.pending().filter(team=member.team, member=member.user)
    list(requests.select_for_update().order_by("pk"))
    owned = ApiKey.objects.filter(tenant=member.team.tenant_id, owner=member.user_id)
    keys = list(owned.filter(revoked_at=None).select_for_update(no_key=True).order_by("pk"))
    gateway_keys.revoke_keys(keys, timezone.now())
    for key in keys:
        record_key_end(actor, key)
    pause_member_series(member, actor)
    return len(keys)


def pause_member_series(member: Membership, actor: AuditActor) -> None:
    reason = SERIES_ENDED.format(name=member.user)
    for series in Series.objects.running().filter(team=member.team, member=member.user):
        Series.objects.filter(pk=series.pk).pause(reason)
        record_audit_event(actor, AuditAction.SERIES_PAUSE, series.pk, reason=reason)


def record_key_end(actor: AuditActor, key: ApiKey, reason: str = "") -> None:
    before = {"name": key.name, "owner": str(key.owner)}
    after = {"reason": reason} if reason else {}
    action = AuditAction.AGENT_END if key.client_id else AuditAction.API_KEY_REVOKE
    record_audit_event(actor, action, key.pk, before=before, after=after)
    publish_event(key.tenant_id, EventType.TOKEN, key.pk)
