"""Create a team with its first owner, suspend a team, end its suspension. Only for operators.

What an operator does to a team is in the audit log of that team.
"""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from dashboard.instance.teams import create_team
from dashboard.members.actions.invitations import renew_invitation
from dashboard.models import (
    AuditAction,
    AuditActorKind,
    Invitation,
    Membership,
    Role,
    Team,
)
from dashboard.shared.access import require_operator
from dashboard.shared.audit_log import AuditActor, append_audit_rows_last, record_audit_event
from dashboard.shared.text_validation import clean_reason
from proxyapi.charges import cancel_held_charges, charge_stop_sentence
from proxyapi.events import EventType, publish_event
from proxyapi.models import Tenant
from proxyapi.refusals import StaleData

REASON_MISSING = "Say why, in a few words. Every member of the team reads it."
SUSPENDED_ALREADY = "This team is suspended already, by {who}."
NOT_SUSPENDED = "This team is not suspended."
HAS_OWNER = "This team has an owner already. Nothing was sent."


@transaction.atomic
@append_audit_rows_last()
def create_team_with_owner(*, by: Membership, name: str, time_zone: str, address: str) -> Team:
    """Create a team without members, and mail the invitation of its first owner. Raises
    `Refusal`."""
    require_operator(by.user)
    team = create_team(name, time_zone)
    invitation = Invitation(
        team=team, address=address, role=Role.OWNER, founds_team=True, invited_by=by.user
    )
    renew_invitation(invitation)
    invitation.save(force_insert=True)
    after = {"name": team.name, "owner": address}
    record_audit_event(operator_actor(by, team), AuditAction.TEAM_CREATE, team.pk, after=after)
    return team


@transaction.atomic
@append_audit_rows_last()
def resend_owner_invitation(*, by: Membership, team: Team) -> str:
    """Mail a new link to the first owner, and return the address. Raises `StaleData` if the team
    has one."""
    require_operator(by.user)
    rows = Invitation.objects.select_for_update().pending().filter(team=team, founds_team=True)
    row = rows.first()
    if row is None:
        raise StaleData(HAS_OWNER)
    renew_invitation(row)
    row.save()
    after = {"address": row.address, "role": row.role}
    actor = operator_actor(by, team)
    record_audit_event(actor, AuditAction.INVITATION_RESEND, row.pk, after=after)
    return row.address


def suspend_team(*, by: Membership, team: Team, reason: str) -> None:
    """Show its members nothing but the reason, and charge nothing from now on. What waits is
    released, what was sent is settled, and running renders are watched.

    Raises `Refusal` without a reason, `StaleData` if it is suspended already.
    """
    require_operator(by.user)
    reason = clean_reason(reason, required=REASON_MISSING)
    with transaction.atomic():
        tenant = lock_tenant_of(team)
        if tenant.suspended_at is not None:
            raise StaleData(SUSPENDED_ALREADY.format(who=tenant.suspended_by))
        tenant.suspended_at, tenant.suspended_by = timezone.now(), str(by.user)
        tenant.suspension_reason = reason
        save_suspension(by, team, tenant, AuditAction.TEAM_SUSPEND, reason)
    # As with a stop of all charges: whatever is admitted meanwhile is refused or released.
    cancel_held_charges(tenant.pk, charge_stop_sentence(tenant))


@transaction.atomic
def restore_team(*, by: Membership, team: Team) -> None:
    """End the suspension. A stop of all charges by the team's own admins stays. Raises
    `StaleData` if it is not suspended."""
    require_operator(by.user)
    tenant = lock_tenant_of(team)
    if tenant.suspended_at is None:
        raise StaleData(NOT_SUSPENDED)
    reason = tenant.suspension_reason
    tenant.suspended_at, tenant.suspended_by, tenant.suspension_reason = None, "", ""
    save_suspension(by, team, tenant, AuditAction.TEAM_RESTORE, reason)


def lock_tenant_of(team: Team) -> Tenant:
    return Tenant.objects.select_for_update(no_key=True).get(pk=team.tenant_id)


def save_suspension(
    by: Membership, team: Team, tenant: Tenant, action: AuditAction, reason: str
) -> None:
    tenant.save(update_fields=["suspended_at", "suspended_by", "suspension_reason"])
    record_audit_event(operator_actor(by, team), action, team.pk, reason=reason)
    publish_event(tenant.pk, EventType.BUDGET, team.pk)


def operator_actor(by: Membership, team: Team) -> AuditActor:
    """Return the operator as the actor in the log of a team whose member they need not be."""
    return AuditActor(team, AuditActorKind.PERSON, str(by.user_id), str(by.user))
