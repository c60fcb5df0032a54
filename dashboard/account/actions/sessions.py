"""End sessions of one's own."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.db import transaction

from dashboard.account.actions.account_audit import record_account_event
from dashboard.models import AuditAction
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.http import TeamRequest
from dashboard.shared.user_sessions import delete_sessions


@transaction.atomic
@append_audit_rows_last()
def end_session(request: TeamRequest, session: UserSession) -> None:
    session.end()
    record_account_event(request.user, AuditAction.SESSION_END, "own account", sessions=1)


@transaction.atomic
@append_audit_rows_last()
def end_other_sessions(request: TeamRequest) -> int:
    """Sign the reader out everywhere but here; return how many sessions ended."""
    ended = delete_sessions(request.user, keep=request.session.session_key or "")
    if ended:
        record_account_event(request.user, AuditAction.SESSION_END, "own account", sessions=ended)
    return ended
