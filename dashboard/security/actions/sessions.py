"""How long the sessions of a team's members last, and the end of all of them."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.security.actions.row import lock_team_security, save_team_security
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.roles import Permission
from dashboard.shared.session_limits import SessionLimits, load_session_limits
from dashboard.shared.user_sessions import delete_user_sessions, shorten_sessions


@transaction.atomic
@append_audit_rows_last()
def set_session_limits(*, by: Membership, limits: SessionLimits) -> bool:
    """Save the team's limits; return False if nothing changed. They count at once for sessions that
    are open. Raises PermissionDenied."""
    row = lock_team_security(by)
    before = load_session_limits(member_user_ids(by))
    row.session_hours, row.session_idle_minutes = limits
    if not save_team_security(by, row, AuditAction.TEAM_SESSIONS):
        return False
    shorten_sessions(before)
    return True


@transaction.atomic
@append_audit_rows_last()
def sign_everyone_out(*, by: Membership) -> int:
    """End all sessions of all members, also of `by`; return how many."""
    check_permission(by, Permission.MANAGE_SECURITY)
    ended = delete_user_sessions(set(member_user_ids(by)))
    record_audit_event(by, AuditAction.TEAM_SIGN_OUT, by.team_id, sessions=ended)
    return ended


def member_user_ids(by: Membership) -> list[int]:
    return list(by.team.memberships.values_list("user", flat=True))
