"""What happens to a team and its members: their roles, its time zone."""

from __future__ import annotations

from zoneinfo import available_timezones

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.urls import reverse

from dashboard.models import AuditAction, Membership, Role
from dashboard.shared.access import check_can_change_role, check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.notices import notify_users
from dashboard.shared.roles import ROLE_DESCRIPTIONS, Permission, assignable_roles
from proxyapi import tasks
from proxyapi.models import Account, LedgerMirror, Tenant
from proxyapi.refusals import Refusal, StaleData
from proxyapi.rollups.daily_totals import REBUILD_WANTED

BEYOND_OWN_ROLE = "You can only give a role whose permissions you have yourself."
LAST_OWNER = "The team needs an owner. Make somebody else one first."
MEMBER_LEFT = "This member has left the team meanwhile."
UNKNOWN_TIME_ZONE = "There is no such time zone. Choose one of the list, such as Europe/Berlin."


@transaction.atomic
@append_audit_rows_last()
def change_member_role(*, by: Membership, member: Membership, role: Role) -> bool:
    """Give a member of the same team another role, and tell the owners; False when they have it
    already.

    Raises PermissionDenied when `by` may not, `Refusal` when it would leave the team ownerless.
    """
    # The owners are locked too: two owners who demote each other at once must not both succeed.
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
    """Tell the team's days in another time zone; False when it is the one they are told in.

    Budgets count by it from now on; the ledger's days are counted anew in the background. Raises
    PermissionDenied, and `Refusal` for what is no time zone.
    """
    check_permission(by, Permission.MANAGE_TEAM)
    if name not in available_timezones():
        raise Refusal(UNKNOWN_TIME_ZONE, field="time_zone")
    # Whoever adds a row of the tenant's meanwhile has no need to wait.
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
    # Even where it is the zone of before again: meanwhile days were counted in another.
    LedgerMirror.objects.filter(account__tenant=tenant).update(rollup_time_zone=REBUILD_WANTED)
    for account_id in Account.objects.filter(tenant=tenant).values_list("pk", flat=True):
        tasks.enqueue_task_after_commit(tasks.recount_days_task, account_id)
    return True
