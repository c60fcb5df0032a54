"""Remove the link of a member to their account at the team's provider."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership, SingleSignOnLink
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import StaleData

NO_LINK = "{name} is linked to no account at the provider. Nothing was changed."


@transaction.atomic
@append_audit_rows_last()
def remove_provider_link(*, by: Membership, member: Membership) -> None:
    """Let the next person who signs in at the provider with the member's address be the member.
    Raises `Refusal` without a link."""
    check_permission(by, Permission.MANAGE_TEAM)
    links = SingleSignOnLink.objects.filter(single_sign_on__team=by.team, user=member.user)
    subjects = sorted(links.values_list("subject", flat=True))
    if not links.delete()[0]:
        raise StaleData(NO_LINK.format(name=member.user))
    record_audit_event(
        by, AuditAction.SINGLE_SIGN_ON_UNLINK, member.user_id, before={"sub": ", ".join(subjects)}
    )
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
