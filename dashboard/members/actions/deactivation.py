"""Deactivate a member, who keeps membership, role and history but may not enter the team, and
reactivate them."""

from __future__ import annotations

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.roles import (
    LAST_OWNER,
    MEMBER_LEFT,
    find_actor,
    lock_active_members,
)
from dashboard.models import AuditAction, Membership, Role
from dashboard.shared.access import check_can_change_role, check_permission
from dashboard.shared.audit_log import append_audit_rows_last, person_actor, record_audit_event
from dashboard.shared.notices import notify_users
from dashboard.shared.pending_rights import (
    cancel_unsent_charges,
    end_offers,
    revoke_member_keys,
    withdraw_member_requests,
)
from dashboard.shared.roles import Permission
from dashboard.shared.user_sessions import delete_sessions
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData

OWN_DEACTIVATION = "You cannot deactivate yourself. Leave the team instead."
REQUESTER_DEACTIVATED = "{name} was deactivated before it was decided. Nothing was sent."
DEACTIVATED_BEFORE_SENDING = "{name} was deactivated before it was sent. Nothing was charged."


@transaction.atomic
@append_audit_rows_last()
def deactivate_member(*, by: Membership, member: Membership) -> None:
    """Keep a member out of the team until they are reactivated.

    Their API keys are revoked, approval requests withdrawn, unsent charges cancelled and the
    invitations that they sent revoked. Token, drafts, budgets and running renders stay. Without
    another team they are signed out everywhere. Raises `Refusal` for the last owner and for
    oneself, and PermissionDenied.
    """
    # All members are locked: two owners who deactivate each other at once must not both succeed.
    members = lock_active_members(by.team)
    current, actor = members.get(member.pk), find_actor(members, by)
    if current is None:
        raise StaleData(MEMBER_LEFT)
    if current.pk == actor.pk:
        raise Refusal(OWN_DEACTIVATION)
    check_permission(actor, Permission.MANAGE_MEMBERS)
    check_can_change_role(actor, current.role)
    if [row for row in members.values() if row.role == Role.OWNER] == [current]:
        raise Refusal(LAST_OWNER)
    current.deactivated_at = timezone.now()
    current.save(update_fields=["deactivated_at"])
    revoke_member_keys(current, person_actor(by))
    withdraw_member_requests(current, person_actor(by), REQUESTER_DEACTIVATED)
    cancel_unsent_charges(current, DEACTIVATED_BEFORE_SENDING)
    end_offers(current, person_actor(by), role=None)
    if not Membership.objects.filter(user=current.user_id).exists():
        delete_sessions(current.user)
    record_audit_event(
        by, AuditAction.MEMBER_DEACTIVATE, current.user_id, before={"role": current.role}
    )
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


@transaction.atomic
@append_audit_rows_last()
def reactivate_member(*, by: Membership, member: Membership) -> None:
    """Let a deactivated member enter the team again, with the role they had. Raises `StaleData` if
    they are active or left, and PermissionDenied."""
    check_permission(by, Permission.MANAGE_MEMBERS)
    rows = Membership.with_deactivated.select_for_update(of=("self",)).select_related("user")
    current = rows.filter(pk=member.pk, team=by.team).exclude(deactivated_at=None).first()
    if current is None:
        raise StaleData(MEMBER_LEFT)
    check_can_change_role(by, current.role)
    current.deactivated_at = None
    current.save(update_fields=["deactivated_at"])
    record_audit_event(
        by, AuditAction.MEMBER_REACTIVATE, current.user_id, after={"role": current.role}
    )
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    notify_users(
        by.team,
        [current.user],
        title=f"{by.user} reactivated you in {by.team}",
        text=f"You can use {by.team} again, with the role {current.get_role_display().lower()}.",
        url=reverse("overview"),
    )
