"""Fetch members, invitations, transfers, tokens, entries of the audit log, logged requests."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404
from django.utils import timezone

from dashboard.models import AuditEvent, Invitation, Membership, OwnershipTransfer, Role, Team
from dashboard.shared.access.permissions import (
    PERMISSION_MESSAGES,
    check_permission,
    has_permission,
    require_operator,
    require_visible,
)
from dashboard.shared.audit_log import MONEY_AUDIT_ACTIONS
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission, assignable_roles, grantable_roles
from proxyapi.models import GatewayRequest, Token

TARGET_HAS_MORE_PERMISSIONS = (
    "This member has permissions that you do not have, so you cannot change their role."
)

NO_PAUSE = (
    "Only owners, admins and treasurers can pause the charges of others; those of an owner only "
    "owners."
)


def fetch_token_to_change(request: TeamRequest, token_id: UUID) -> Token:
    """Return a token that the reader may rename or remove: their own with any role, or any token of
    the team if they manage members."""
    tokens = Token.objects.not_removed().filter(tenant=request.team.tenant, pk=token_id)
    token = tokens.select_related("owner", "account").first()
    if token is None:
        raise Http404("This token does not exist in this team.")
    if token.owner_id != request.user.pk and not has_permission(
        request.membership, Permission.MANAGE_MEMBERS
    ):
        raise PermissionDenied("Only the token’s member, an owner or an admin can change it.")
    return token


def fetch_membership(request: TeamRequest, membership_id: int) -> Membership:
    membership = request.team.memberships.select_related("user").filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This member does not exist in this team.")
    check_can_change_role(request.membership, membership.role)
    return membership


def fetch_team_member(
    request: TeamRequest, membership_id: int, permission: Permission
) -> Membership:
    """Return any member of the team, for readers whose role makes the page exist for them."""
    require_visible(request.membership, permission)
    membership = request.team.memberships.select_related("user").filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This member does not exist in this team.")
    return membership


def fetch_member_to_pause(request: TeamRequest, membership_id: int) -> Membership:
    """Return a member whose charges the reader may pause, and allow again."""
    membership = request.team.memberships.select_related("user").filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This member does not exist in this team.")
    check_can_pause_charges(request.membership, membership)
    return membership


def can_pause_charges(by: Membership, member: Membership) -> bool:
    """Whether `by` may pause the charges of the member: who operates the team or manages its money;
    those of an owner only owners, so that nobody but an owner takes back a pause of their own."""
    if Role.OWNER in (by.role, member.role) or by.user_id == member.user_id:
        return by.role == Role.OWNER
    return has_permission(by, Permission.OPERATE) or has_permission(by, Permission.MANAGE_MONEY)


def check_can_pause_charges(by: Membership, member: Membership) -> None:
    if not can_pause_charges(by, member):
        raise PermissionDenied(NO_PAUSE)


def fetch_removable_membership(request: TeamRequest, membership_id: int) -> Membership:
    """Return a member whom the reader may remove, also a deactivated one: themselves, or one whose
    role they may change."""
    memberships = Membership.with_deactivated.filter(team=request.team)
    memberships = memberships.select_related("user", "team__tenant")
    membership = memberships.filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This member does not exist in this team.")
    if membership.pk != request.membership.pk:
        check_permission(request.membership, Permission.MANAGE_MEMBERS)
        check_can_change_role(request.membership, membership.role)
    return membership


def fetch_deactivated_membership(request: TeamRequest, membership_id: int) -> Membership:
    memberships = Membership.with_deactivated.filter(team=request.team).select_related("user")
    membership = memberships.exclude(deactivated_at=None).filter(pk=membership_id).first()
    if membership is None:
        raise Http404("This team has no such deactivated member.")
    check_permission(request.membership, Permission.MANAGE_MEMBERS)
    check_can_change_role(request.membership, membership.role)
    return membership


def check_can_change_role(by: Membership, current: str) -> None:
    """Raise `PermissionDenied` unless `by` may change the role of a member whose role is
    `current`."""
    if not grantable_roles(by.role):
        raise PermissionDenied(PERMISSION_MESSAGES[Permission.MANAGE_MEMBERS])
    if not assignable_roles(by.role, current):
        raise PermissionDenied(TARGET_HAS_MORE_PERMISSIONS)


def fetch_invitation(request: TeamRequest, invitation_id: UUID) -> Invitation:
    """Return an invitation of the team, to mail again or to end."""
    invitation = request.team.invitations.filter(pk=invitation_id).first()
    if invitation is None:
        raise Http404("This invitation does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MEMBERS)
    return invitation


def fetch_ownership_transfer(request: TeamRequest, transfer_id: UUID) -> OwnershipTransfer:
    """Return a transfer that waits for its answer, for an owner to take back."""
    transfer = find_ownership_transfer(request, transfer_id)
    check_permission(request.membership, Permission.MANAGE_TEAM)
    return transfer


def fetch_received_transfer(request: TeamRequest, transfer_id: UUID) -> OwnershipTransfer:
    """Return a transfer that waits for the reader's answer."""
    transfer = find_ownership_transfer(request, transfer_id)
    if transfer.to_user_id != request.user.pk:
        raise PermissionDenied("Only the member who was asked to become owner can answer.")
    return transfer


def find_ownership_transfer(request: TeamRequest, transfer_id: UUID) -> OwnershipTransfer:
    transfers = request.team.ownership_transfers.answerable(timezone.now())
    transfer = transfers.select_related("from_user", "to_user").filter(pk=transfer_id).first()
    if transfer is None:
        raise Http404("This team has no such transfer of ownership any more.")
    return transfer


def fetch_any_team(request: TeamRequest, team_id: UUID) -> Team:
    """Return a team of the installation, for its operator."""
    require_operator(request.user)
    team = Team.objects.select_related("tenant").filter(pk=team_id).first()
    if team is None:
        raise Http404("This team does not exist.")
    return team


def audit_entries(membership: Membership) -> QuerySet[AuditEvent]:
    """Return the entries of the team that the role may read; raises `Http404` if it is none."""
    require_visible(membership, Permission.VIEW_AUDIT)
    entries = AuditEvent.objects.filter(team_id=membership.team_id)
    if not has_permission(membership, Permission.OPERATE):
        entries = entries.filter(action__in=MONEY_AUDIT_ACTIONS)
    return entries


def fetch_audit_entry(request: TeamRequest, position: int) -> AuditEvent:
    entry = audit_entries(request.membership).filter(position=position).first()
    if entry is None:
        raise Http404("This entry does not exist in this team’s audit log.")
    return entry


def gateway_requests(membership: Membership) -> QuerySet[GatewayRequest]:
    """Return the logged requests of the team's scripts: all for who reads the audit log, else those
    of the reader's own keys. Raises `Http404` for a role without keys."""
    require_visible(membership, Permission.KEEP_TOKEN)
    rows = GatewayRequest.objects.filter(tenant=membership.team.tenant_id)
    if not has_permission(membership, Permission.VIEW_AUDIT):
        rows = rows.filter(key__owner=membership.user_id)
    return rows


def fetch_gateway_request(request: TeamRequest, request_id: UUID) -> GatewayRequest:
    """Return a logged request with its key, charge and job."""
    rows = gateway_requests(request.membership).filter(pk=request_id)
    row = rows.select_related("key__owner", "charge__token", "job").first()
    if row is None:
        raise Http404("This request is not in this team’s log.")
    return row
