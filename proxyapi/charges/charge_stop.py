"""The stop of all charges of a tenant: from then on nothing that charges is admitted or sent.

What is already with the service is settled as always. A held charge, which was provably not sent,
is released: by the stop itself, or by the worker that takes it up next. The claim of a charge asks
for the stop in its one conditional update, so nothing is claimed after the stop is committed.
"""

from __future__ import annotations

from uuid import UUID

from proxyapi.models import Tenant
from proxyapi.refusals import ChargesStopped

CHARGES_STOPPED = (
    "Not sent. {who} stopped all charges of the team on {at}: “{reason}”. Nothing was charged. An "
    "owner or admin can allow charges again."
)
TENANT_SUSPENDED = (
    "Not sent. The operator of this installation suspended the team on {at}: “{reason}”. Nothing "
    "was charged."
)


def check_charges_allowed(tenant_id: UUID) -> None:
    """Raise `ChargesStopped` if somebody stopped the charges of the tenant.

    The caller has locked the account: a stop releases held charges under the same lock, so a charge
    is either refused here or released there.
    """
    if sentence := charge_stop_sentence(Tenant.objects.get(pk=tenant_id)):
        raise ChargesStopped(sentence)


def charge_stop_sentence(tenant: Tenant) -> str:
    """Return who stopped the charges, when and why; empty if they are allowed. A suspended tenant
    may charge nothing either."""
    if tenant.suspended_at is not None:
        local = tenant.suspended_at.astimezone(tenant.zone)
        at = f"{local.day} {local:%b} at {local:%H:%M}"
        return TENANT_SUSPENDED.format(at=at, reason=tenant.suspension_reason)
    if tenant.charges_stopped_at is None:
        return ""
    local = tenant.charges_stopped_at.astimezone(tenant.zone)
    return CHARGES_STOPPED.format(
        who=tenant.charges_stopped_by or "Somebody",
        at=f"{local.day} {local:%b} at {local:%H:%M}",
        reason=tenant.charge_stop_reason,
    )
