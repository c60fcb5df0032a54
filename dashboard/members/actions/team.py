"""Settings of a team: its time zone."""

from __future__ import annotations

from zoneinfo import available_timezones

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.roles import Permission
from proxyapi import tasks
from proxyapi.models import Account, LedgerMirror, Tenant
from proxyapi.refusals import Refusal
from proxyapi.rollups.daily_totals import REBUILD_WANTED

UNKNOWN_TIME_ZONE = (
    "This time zone does not exist. Choose one from the list, such as Europe/Berlin."
)


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
