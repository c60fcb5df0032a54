"""Reset the two-factor sign-in of a member who lost their device and their recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.db import transaction

from dashboard.members.actions.removal import check_can_remove_member
from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.account_changes import AccountChange, mail_account_change
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.roles import Permission
from dashboard.shared.second_factor import has_second_factor
from dashboard.shared.user_sessions import delete_sessions
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal

NO_SECOND_FACTOR = "{name} has no two-factor sign-in to reset."
IN_OTHER_TEAM = (
    "{name} is also in another team, which this would concern. Only the operator of the portal can "
    "reset it."
)


@transaction.atomic
@append_audit_rows_last()
def reset_second_factor(*, by: Membership, member: Membership) -> None:
    """Remove the member's app, passkeys and recovery codes, sign them out everywhere, and mail
    them.

    Raises PermissionDenied, and `Refusal` for a member of another team: its owners would not know
    that one of them signs in by password alone.
    """
    check_permission(by, Permission.MANAGE_MEMBERS)
    check_can_remove_member(by, member)
    name = str(member.user)
    if not has_second_factor(member.user):
        raise Refusal(NO_SECOND_FACTOR.format(name=name))
    if member.user.memberships.exclude(pk=member.pk).exists():
        raise Refusal(IN_OTHER_TEAM.format(name=name))
    removed = Authenticator.objects.filter(user=member.user).order_by("pk")
    before = {"factors": ", ".join(str(row.get_type_display()) for row in removed)}
    removed.delete()
    ended = delete_sessions(member.user)
    record_audit_event(
        by, AuditAction.SECOND_FACTOR_RESET, member.user_id, before=before, sessions=ended
    )
    mail_account_change(member.user, AccountChange.SECOND_FACTOR_RESET, str(by.user))
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
