"""Stop all charges of a team, and allow them again."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import require_visible
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from dashboard.shared.text_validation import clean_reason
from proxyapi.charges import cancel_held_charges, charge_stop_sentence
from proxyapi.events import EventType, publish_event
from proxyapi.models import Tenant
from proxyapi.refusals import StaleData

REASON_MISSING = "Say why, in a few words. Everyone in the team reads it."
ALREADY_STOPPED = "Charges are already stopped, by {who}."
NOT_STOPPED = "Charges are allowed already."


def stop_charges(*, by: Membership, reason: str) -> int:
    """Refuse and send no charge from now on; release those that wait. Return how many waited.

    The stop is committed before the waiting charges are released: whatever is admitted meanwhile is
    refused or released, and a worker that takes one up sends nothing. What a worker has claimed
    before is sent, and settled as always. Raises `Refusal` without a reason, `StaleData` if charges
    are stopped already.
    """
    require_visible(by, Permission.OPERATE)
    reason = clean_reason(reason, required=REASON_MISSING)
    with transaction.atomic():
        tenant = lock_tenant(by)
        if tenant.charges_stopped_at is not None:
            raise StaleData(ALREADY_STOPPED.format(who=tenant.charges_stopped_by))
        tenant.charges_stopped_at = timezone.now()
        tenant.charges_stopped_by, tenant.charge_stop_reason = str(by.user), reason
        save_charge_stop(by, tenant)
        record_audit_event(
            by,
            AuditAction.CHARGES_STOP,
            "charges",
            before={"charges": "allowed"},
            after={"charges": "stopped"},
            reason=reason,
        )
    return cancel_held_charges(tenant.pk, charge_stop_sentence(tenant))


@transaction.atomic
def resume_charges(*, by: Membership) -> None:
    """Allow charges again. What was released is not sent; people confirm it again. Raises
    `StaleData` if charges are not stopped."""
    require_visible(by, Permission.OPERATE)
    tenant = lock_tenant(by)
    if tenant.charges_stopped_at is None:
        raise StaleData(NOT_STOPPED)
    stopped_by, reason = tenant.charges_stopped_by, tenant.charge_stop_reason
    tenant.charges_stopped_at = None
    tenant.charges_stopped_by = tenant.charge_stop_reason = ""
    save_charge_stop(by, tenant)
    record_audit_event(
        by,
        AuditAction.CHARGES_RESUME,
        "charges",
        before={"charges": "stopped"},
        after={"charges": "allowed"},
        stopped_by=stopped_by,
        reason=reason,
    )


def lock_tenant(by: Membership) -> Tenant:
    return Tenant.objects.select_for_update(no_key=True).get(pk=by.team.tenant_id)


def save_charge_stop(by: Membership, tenant: Tenant) -> None:
    tenant.save(update_fields=["charges_stopped_at", "charges_stopped_by", "charge_stop_reason"])
    publish_event(tenant.pk, EventType.BUDGET, by.team_id)
