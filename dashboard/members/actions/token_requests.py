"""Remind a member to add a token."""

from __future__ import annotations

from django.db import transaction
from django.urls import reverse

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_can_change_role, check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.member_token import has_member_token
from dashboard.shared.notices import notify_users
from dashboard.shared.roles import Permission, role_allows
from proxyapi.refusals import Refusal

HAS_TOKEN = "{name} has a working token already."  # noqa: S105  # a sentence
NEEDS_NO_TOKEN = "A {role} cannot add a token."  # noqa: S105


@transaction.atomic
def request_member_token(*, by: Membership, member: Membership) -> None:
    """Notify the member, in the portal and by e-mail. Raises PermissionDenied, and `Refusal` if
    they need no token."""
    check_permission(by, Permission.MANAGE_MEMBERS)
    check_can_change_role(by, member.role)
    if not role_allows(member.role, Permission.KEEP_TOKEN):
        raise Refusal(NEEDS_NO_TOKEN.format(role=member.get_role_display().lower()))
    if has_member_token(member):
        raise Refusal(HAS_TOKEN.format(name=member.user))
    record_audit_event(by, AuditAction.TOKEN_REQUEST, member.user_id)
    notify_users(
        by.team,
        [member.user],
        title=f"{by.user} asks you to add your token",
        text="Copy it from your account settings at the service. You create videos with it.",
        url=reverse("tokens"),
    )
