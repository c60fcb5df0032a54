"""Record what a person changed in their account in the audit log of each of their teams."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.models import AuditAction, User
from dashboard.shared.audit_log import EMPTY, record_audit_event
from proxyapi.events import EventType, publish_event


def record_account_event(
    user: User,
    action: AuditAction,
    target: str,
    *,
    before: Mapping[str, object] = EMPTY,
    after: Mapping[str, object] = EMPTY,
    **details: object,
) -> None:
    """Call it in the transaction of the change. Teams are locked in one order."""
    members = user.memberships.select_related("team", "user").order_by("team_id")
    for member in members:
        record_audit_event(member, action, target, before=before, after=after, **details)


def publish_member_change(user: User) -> None:
    """Have the open members pages of the person's teams show the change."""
    for member in user.memberships.select_related("team"):
        publish_event(member.team.tenant_id, EventType.MEMBER, member.team_id)
