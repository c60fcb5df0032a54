"""Change the role of a member."""

from __future__ import annotations

from collections.abc import Mapping

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse

from dashboard.models import AuditAction, Membership, Role, Team
from dashboard.shared.access import check_can_change_role
from dashboard.shared.audit_log import append_audit_rows_last, person_actor, record_audit_event
from dashboard.shared.notices import notify_users
from dashboard.shared.pending_rights import end_what_role_allowed
from dashboard.shared.roles import (
    ROLE_DESCRIPTIONS,
    Permission,
    assignable_roles,
    role_allows,
)
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job, JobState
from proxyapi.refusals import Refusal, StaleData

BEYOND_OWN_ROLE = "You can only assign roles whose permissions you have yourself."
LAST_OWNER = "The team needs an owner. Make another member an owner first."
MEMBER_LEFT = "This member has left the team."
LOST_ACCESS = "You have lost access to this team meanwhile. Nothing was changed."
RENDERS_RUNNING = (
    "Not changed. {name} has {renders} running. A {role} cannot own {them}: hand {them} over first."
)


class RendersRunning(Refusal):
    """The member has renders running, which a role without a token cannot own."""


@transaction.atomic
@append_audit_rows_last()
def change_member_role(*, by: Membership, member: Membership, role: Role) -> bool:
    """Change the role of a member of the same team and notify the member and the owners; return
    False if they already have it.

    Raises PermissionDenied if `by` may not, and `Refusal` if the team would have no owner.
    """
    # All members are locked: two owners who demote each other at once must not both succeed.
    members = lock_active_members(by.team)
    current = members.get(member.pk)
    if current is None:
        raise StaleData(MEMBER_LEFT, field="role")
    check_can_assign_role(find_actor(members, by), current, role)
    if current.role == role:
        return False
    owners = [row for row in members.values() if row.role == Role.OWNER]
    if owners == [current]:
        raise Refusal(LAST_OWNER, field="role")
    check_no_renders_running(current, role)
    before, current.role = current.role, role
    record_audit_event(
        by,
        AuditAction.MEMBER_ROLE,
        member.user_id,
        before={"role": before},
        after={"role": role},
    )
    current.save(update_fields=["role"])
    end_what_role_allowed(current, person_actor(by))
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    if current.user_id != by.user_id:
        notify_users(
            by.team,
            [current.user],
            title=f"You are {role.label.lower()} of {by.team} now",
            text=f"{by.user} changed your role. {ROLE_DESCRIPTIONS[role]}",
            url=reverse("members"),
        )
    told = {by.user_id, current.user_id}
    others = [row.user for row in owners if row.user_id not in told]
    notify_users(
        by.team,
        others,
        title=f"{by.user} made {current.user} {role.label.lower()}",
        text=f"{current.user} was {Role(before).label.lower()} before. {ROLE_DESCRIPTIONS[role]}",
        url=reverse("members"),
    )
    return True


def lock_active_members(team: Team) -> dict[int, Membership]:
    """Return the active members by the id of the membership, locked."""
    rows = Membership.objects.select_for_update(of=("self",)).filter(team=team)
    return {row.pk: row for row in rows.select_related("user", "team__tenant").order_by("pk")}


def find_actor(members: Mapping[int, Membership], by: Membership) -> Membership:
    """Return the actor as they are under the lock: their role may have changed since the request
    began. Raises `StaleData` if they left."""
    actor = members.get(by.pk)
    if actor is None:
        raise StaleData(LOST_ACCESS)
    return actor


def check_can_assign_role(by: Membership, member: Membership, role: Role) -> None:
    """Raise `PermissionDenied` unless `by` may give this role to this member."""
    check_can_change_role(by, member.role)
    if role not in assignable_roles(by.role, member.role) | {member.role}:
        raise PermissionDenied(BEYOND_OWN_ROLE)


def check_no_renders_running(member: Membership, role: Role) -> None:
    """Raise `Refusal` if the role cannot have a token and renders of the member are polled with
    one."""
    if role_allows(role, Permission.KEEP_TOKEN):
        return
    jobs = Job.objects.filter(tenant=member.team.tenant_id, state=JobState.RUNNING)
    if running := jobs.filter(token__owner=member.user_id).count():
        renders, them = ("1 render", "it") if running == 1 else (f"{running} renders", "them")
        words = {"name": member.user.first_name, "role": role.label.lower()}
        raise RendersRunning(RENDERS_RUNNING.format(renders=renders, them=them, **words))
