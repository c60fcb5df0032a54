"""The row of a team's security settings, locked for a change and saved with its audit entry."""

from __future__ import annotations

from dashboard.models import AuditAction, Membership, TeamSecurity
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event

AUDITED_FIELDS = {
    AuditAction.TEAM_TWO_FACTOR: ("require_two_factor",),
    AuditAction.TEAM_DOMAINS: ("allowed_domains",),
    AuditAction.TEAM_SESSIONS: ("session_hours", "session_idle_minutes"),
}


def lock_team_security(by: Membership) -> TeamSecurity:
    """Return the team's row, written with the defaults if there is none, locked for the rest of the
    transaction. Raises PermissionDenied."""
    check_permission(by, Permission.MANAGE_SECURITY)
    rows = TeamSecurity.objects
    rows.bulk_create([TeamSecurity(team=by.team, changed_by=by.user)], ignore_conflicts=True)
    return rows.select_for_update(of=("self",)).get(team=by.team)


def save_team_security(by: Membership, row: TeamSecurity, action: AuditAction) -> bool:
    """Save a changed row with its audit entry, and tell open pages; False if nothing changed."""
    fields = AUDITED_FIELDS[action]
    old = TeamSecurity.objects.get(pk=row.pk)
    before, after = ({name: getattr(side, name) for name in fields} for side in (old, row))
    if before == after:
        return False
    row.changed_by = by.user
    row.save()
    record_audit_event(by, action, by.team_id, before=before, after=after)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    return True
