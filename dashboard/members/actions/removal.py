"""Remove a member: tokens, requests, unsent charges, invitations end; what they made stays.

Approval requests are locked before accounts.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from dashboard.members.actions.invitations import revoke_member_invitations
from dashboard.members.actions.roles import find_actor, lock_active_members
from dashboard.models import (
    AuditAction,
    Budget,
    Membership,
    Role,
    User,
)
from dashboard.shared.access import check_can_change_role, check_permission
from dashboard.shared.audit_log import (
    AuditActor,
    append_audit_rows_last,
    person_actor,
    record_audit_event,
    system_actor,
)
from dashboard.shared.member_token import token_owner_ids
from dashboard.shared.pending_rights import (
    cancel_unsent_charges,
    end_offers,
    revoke_member_keys,
    withdraw_member_requests,
)
from dashboard.shared.roles import Permission
from dashboard.shared.user_sessions import delete_sessions
from proxyapi import token_failover, tokens
from proxyapi.events import EventType, publish_event
from proxyapi.models import Charge, Job, JobState, Token
from proxyapi.models.charge import UNDECIDED_STATES
from proxyapi.refusals import Refusal

LAST_OWNER_LEAVES = "{name} is the last owner of {team}. Make another member an owner first."
REQUESTER_LEFT = "{name} left the team before it was decided. Nothing was sent."
LEFT_BEFORE_SENDING = "{name} left the team before it was sent. Nothing was charged."


@dataclass(frozen=True, slots=True)
class WorkSuccessors:
    """The colleagues, by user id, with whose tokens a member's running renders and drafts go on."""

    renders: int | None = None
    drafts: int | None = None


@dataclass(frozen=True, slots=True)
class MemberRemoval:
    """What was ended, and what continues without the member."""

    tokens: int  # removed
    keys: int  # API keys that were revoked
    requests: int  # approval requests that were withdrawn
    cancelled: int  # held charges that were not sent
    moved_drafts: int  # to a colleague's token for the same account
    moved_renders: int
    unsettled: int  # sent charges with an unknown outcome
    rendering: tuple[str, ...]  # titles of videos that are rendering on the removed tokens
    has_other_team: bool


@transaction.atomic
@append_audit_rows_last()
def remove_member(
    member: Membership,
    *,
    by: Membership | None = None,
    successors: WorkSuccessors | None = None,
) -> MemberRemoval:
    """End a membership and everything that acts in the member's name. Without `by`, the command is
    the actor; with the member's own membership they leave.

    A user without another team, also one that deactivated them, can no longer sign in, and is
    signed out everywhere. Charges with an
    unknown outcome stay with the token that sent them. Raises `Refusal` for the last owner, and
    PermissionDenied.
    """
    # All members are locked: two owners who leave at once must not both succeed.
    members = lock_active_members(member.team)
    if [pk for pk, row in members.items() if row.role == Role.OWNER] == [member.pk]:
        raise Refusal(LAST_OWNER_LEAVES.format(name=member.user, team=member.team))
    if by is not None:
        check_can_remove_member(find_actor(members, by), member)
    actor = person_actor(by) if by else system_actor(member.team, "manage.py remove_member")
    removal = end_member_work(member, actor, successors or WorkSuccessors())
    end_offers(member, actor, role=None)
    revoke_member_invitations(member, actor)
    if not removal.has_other_team:
        disable_user(member.user)
    record_audit_event(
        actor,
        AuditAction.MEMBER_LEAVE if by and by.pk == member.pk else AuditAction.MEMBER_REMOVE,
        member.user_id,
        before={"name": str(member.user), "role": member.role, "tokens": removal.tokens},
    )
    publish_event(member.team.tenant_id, EventType.MEMBER, member.team_id)
    member.delete()
    return removal


def end_member_work(
    member: Membership, actor: AuditActor, successors: WorkSuccessors
) -> MemberRemoval:
    """Withdraw, cancel and hand over what is the member's, then destroy their tokens."""
    tenant_id, user_id = member.team.tenant_id, member.user_id
    keys = revoke_member_keys(member, actor)
    requests = withdraw_member_requests(member, actor, REQUESTER_LEFT)
    cancelled = cancel_unsent_charges(member, LEFT_BEFORE_SENDING)
    renders = 0
    if successors.renders is not None:
        renders = token_failover.move_running_jobs(tenant_id, user_id, successors.renders)
    rendering = running_video_titles(member)
    removed = remove_all_member_tokens(member, actor)
    drafts = token_failover.move_drafts_to_colleagues(
        tenant_id, user_id, token_owner_ids(member.team), successors.drafts
    )
    Budget.objects.filter(team=member.team, member=member.user).update(active=False)
    unsettled = Charge.objects.filter(tenant=tenant_id, member=member.user)
    return MemberRemoval(
        tokens=removed,
        keys=keys,
        requests=requests,
        cancelled=cancelled,
        moved_drafts=drafts,
        moved_renders=renders,
        unsettled=unsettled.filter(state__in=UNDECIDED_STATES).count(),
        rendering=rendering,
        has_other_team=has_other_membership(member),
    )


def has_other_membership(member: Membership) -> bool:
    """Also in a team that deactivated the person, so that it can reactivate them."""
    others = Membership.with_deactivated.filter(user=member.user_id)
    return others.exclude(pk=member.pk).exists()


@transaction.atomic
@append_audit_rows_last()
def hand_over_work(*, by: Membership, member: Membership, to: Membership) -> tuple[int, int]:
    """Have a member's running renders and drafts go on with a colleague's tokens of the same
    accounts. Return how many renders and drafts were moved."""
    check_can_remove_member(by, member)
    tenant_id = member.team.tenant_id
    renders = token_failover.move_running_jobs(tenant_id, member.user_id, to.user_id)
    drafts = token_failover.move_drafts_to_colleagues(
        tenant_id, member.user_id, token_owner_ids(member.team), to.user_id
    )
    after = {"to": str(to.user), "renders": renders, "drafts": drafts}
    record_audit_event(by, AuditAction.MEMBER_HAND_OVER, member.user_id, after=after)
    publish_event(tenant_id, EventType.DRAFT, member.team_id)
    return renders, drafts


def check_can_remove_member(by: Membership, member: Membership) -> None:
    """Raise `PermissionDenied` unless `by` is the member, or manages members and has all
    permissions of this one."""
    if by.pk == member.pk:
        return
    check_permission(by, Permission.MANAGE_MEMBERS)
    check_can_change_role(by, member.role)


def running_video_titles(member: Membership) -> tuple[str, ...]:
    jobs = Job.objects.filter(tenant=member.team.tenant_id, state=JobState.RUNNING)
    jobs = jobs.filter(token__owner=member.user).order_by("created_at", "pk")
    return tuple(jobs.values_list("title", flat=True))


def remove_all_member_tokens(member: Membership, actor: AuditActor) -> int:
    stored = Token.objects.not_removed().filter(tenant=member.team.tenant_id, owner=member.user)
    removed = list(stored.order_by("account_id", "pk"))
    for token in removed:
        tokens.destroy_token(token)
        before = {"fingerprint": token.fingerprint, "owner": member.user.email}
        record_audit_event(actor, AuditAction.TOKEN_REMOVE, token.pk, before=before)
    return len(removed)


@transaction.atomic
@append_audit_rows_last()
def sign_member_out(*, by: Membership, member: Membership) -> None:
    """End all sessions of a member, in other teams too: the sessions are the person's."""
    check_can_remove_member(by, member)
    ended = delete_sessions(member.user)
    record_audit_event(by, AuditAction.MEMBER_SIGN_OUT, member.user_id, sessions=ended)


def disable_user(user: User) -> None:
    """Disable the user and sign them out everywhere."""
    user.is_active = False
    user.save(update_fields=["is_active"])
    delete_sessions(user)
