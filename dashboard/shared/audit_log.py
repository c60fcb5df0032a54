"""The audit row, written in the transaction of the deed: no deed without its row."""

from __future__ import annotations

from dashboard.models import AuditEvent, Membership


def record_audit_event(by: Membership, action: str, target: object, **details: object) -> None:
    AuditEvent.objects.create(
        team=by.team, actor=by.user, action=action, target=str(target)[:100], details=details
    )
