"""Actions on a team and its members: change a role, set the time zone, remove a member.

Members are removed from the command line, which the audit log names as the actor. Their tokens,
approval requests and unsent charges end; what they made stays. Approval requests are locked before
accounts.
"""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import available_timezones

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    AuditAction,
    Budget,
    Membership,
    Role,
    User,
)
from dashboard.shared.access import check_can_change_role, check_permission
from dashboard.shared.approvals import close_request, lock_pending_request
from dashboard.shared.audit_log import (
    AuditActor,
    append_audit_rows_last,
    record_audit_event,
    system_actor,
)
from dashboard.shared.notices import notify_users
from dashboard.shared.roles import ROLE_DESCRIPTIONS, Permission, assignable_roles
from proxyapi import tasks, token_failover, tokens
from proxyapi.charges import cancel_held_charge
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, LedgerMirror, Tenant, Token
from proxyapi.models.charge import UNDECIDED_STATES
from proxyapi.refusals import Refusal, StaleData
from proxyapi.rollups.daily_totals import REBUILD_WANTED

BEYOND_OWN_ROLE = "You can only assign roles whose permissions you have yourself."
LAST_OWNER = "The team needs an owner. Make another member an owner first."
MEMBER_LEFT = "This member has left the team."
UNKNOWN_TIME_ZONE = (
    "This time zone does not exist. Choose one from the list, such as Europe/Berlin."
)
LAST_OWNER_LEAVES = "{name} is the last owner of {team}. Make another member an owner first."
REQUESTER_LEFT = "{name} left the team before it was decided. Nothing was sent."
LEFT_BEFORE_SENDING = "{name} left the team before it was sent. Nothing was charged."


@transaction.atomic
@append_audit_rows_last()
def change_member_role(*, by: Membership, member: Membership, role: Role) -> bool:
    """Change the role of a member of the same team and notify the owners; return False if they
    already have it.

    Raises PermissionDenied if `by` may not, and `Refusal` if the team would have no owner.
    """
    # All members are locked: two owners who demote each other at once must not both succeed.
    rows = Membership.objects.select_for_update(of=("self",)).filter(team=by.team)
    members = {row.pk: row for row in rows.select_related("user").order_by("pk")}
    current = members.get(member.pk)
    if current is None:
        raise StaleData(MEMBER_LEFT, field="role")
    check_can_change_role(by, current.role)
    if current.role == role:
        return False
    if role not in assignable_roles(by.role, current.role):
        raise PermissionDenied(BEYOND_OWN_ROLE)
    owners = [row for row in members.values() if row.role == Role.OWNER]
    if owners == [current]:
        raise Refusal(LAST_OWNER, field="role")
    before, current.role = current.role, role
    record_audit_event(
        by,
        AuditAction.MEMBER_ROLE,
        member.user_id,
        before={"role": before},
        after={"role": role},
    )
    current.save(update_fields=["role"])
    others = [row.user for row in owners if row.user_id != by.user_id]
    notify_users(
        by.team,
        others,
        title=f"{by.user} made {current.user} {role.label.lower()}",
        text=f"{current.user} was {Role(before).label.lower()} before. {ROLE_DESCRIPTIONS[role]}",
        url=reverse("members"),
    )
    return True


@transaction.atomic
@append_audit_rows_last()
def set_team_time_zone(*, by: Membership, name: str) -> bool:
    """Set the time zone of the team's days; return False if it is already set.

    Budgets use it from now on; the ledger's daily totals are recounted in the background. Raises
    PermissionDenied, and `Refusal` for an unknown time zone.
    """
    check_permission(by, Permission.MANAGE_TEAM)
    if name not in available_timezones():
        raise Refusal(UNKNOWN_TIME_ZONE, field="time_zone")
    # With no_key, transactions that add rows of the tenant do not wait.
    tenant = Tenant.objects.select_for_update(no_key=True).get(pk=by.team.tenant_id)
    if tenant.time_zone == name:
        return False
    record_audit_event(
        by,
        AuditAction.TEAM_TIME_ZONE,
        by.team_id,
        before={"time_zone": tenant.time_zone},
        after={"time_zone": name},
    )
    tenant.time_zone = name
    tenant.save(update_fields=["time_zone"])
    # Also if an earlier zone is set again: days may have been counted in another one since.
    LedgerMirror.objects.filter(account__tenant=tenant).update(rollup_time_zone=REBUILD_WANTED)
    for account_id in Account.objects.filter(tenant=tenant).values_list("pk", flat=True):
        tasks.enqueue_task_after_commit(tasks.recount_days_task, account_id)
    return True


@dataclass(frozen=True, slots=True)
class MemberRemoval:
    """What was ended, and what continues without the member."""

    tokens: int  # removed
    requests: int  # approval requests that were withdrawn
    cancelled: int  # held charges that were not sent
    moved_drafts: int  # to a colleague's token for the same account
    unsettled: int  # sent charges with an unknown outcome
    rendering: tuple[str, ...]  # titles of videos that are rendering on the removed tokens
    has_other_team: bool


@transaction.atomic
@append_audit_rows_last()
def remove_member(member: Membership) -> MemberRemoval:
    """End a membership and everything that acts in the member's name.

    A user without another team can no longer sign in, and is signed out everywhere. Raises
    `Refusal` for the last owner.
    """
    # All owners are locked: two who leave at once must not both succeed.
    owners = member.team.memberships.select_for_update().filter(role=Role.OWNER)
    if [owner.pk for owner in owners] == [member.pk]:
        raise Refusal(LAST_OWNER_LEAVES.format(name=member.user, team=member.team))
    actor = system_actor(member.team, "manage.py remove_member")
    requests = withdraw_member_requests(member, actor)
    cancelled = cancel_unsent_charges(member)
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    rendering = running_video_titles(member)
    removed = remove_all_member_tokens(member, actor)
    moved_drafts = token_failover.move_drafts_to_colleagues(member.team.tenant_id, member.user_id)
    Budget.objects.filter(team=member.team, member=member.user).update(active=False)
    has_other_team = member.user.memberships.exclude(pk=member.pk).exists()
    if not has_other_team:
        disable_user(member.user)
    removal = MemberRemoval(
        tokens=removed,
        requests=requests,
        cancelled=cancelled,
        moved_drafts=moved_drafts,
        unsettled=charges.filter(state__in=UNDECIDED_STATES).count(),
        rendering=rendering,
        has_other_team=has_other_team,
    )
    record_audit_event(
        actor,
        AuditAction.MEMBER_REMOVE,
        member.user_id,
        before={"name": str(member.user), "role": member.role, "tokens": removed},
    )
    member.delete()
    return removal


def withdraw_member_requests(member: Membership, actor: AuditActor) -> int:
    requests = list(ApprovalRequest.objects.pending().filter(team=member.team, member=member.user))
    for request in requests:
        close_request(
            member,
            lock_pending_request(request),
            ApprovalDecision.WITHDRAWN,
            REQUESTER_LEFT.format(name=member.user),
            recorded_as=actor,
        )
    return len(requests)


def cancel_unsent_charges(member: Membership) -> int:
    """Cancel held charges and return how many; those that a worker has claimed are settled by their
    answer."""
    charges = Charge.objects.filter(tenant=member.team.tenant_id, member=member.user)
    charges = charges.filter(state=ChargeState.HELD).order_by("account_id", "pk")
    sentence = LEFT_BEFORE_SENDING.format(name=member.user)
    return sum(
        cancel_held_charge(charge, sentence) for charge in charges.select_related("account", "job")
    )


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


def disable_user(user: User) -> None:
    """Disable the user and delete all their sessions."""
    user.is_active = False
    user.save(update_fields=["is_active"])
    sessions = Session.objects.iterator()
    session_keys = [
        session.pk for session in sessions if session.get_decoded().get(SESSION_KEY) == str(user.pk)
    ]
    Session.objects.filter(pk__in=session_keys).delete()
