"""Quarantine: a charge whose handling raised five times in a row is set aside, with a reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from proxyapi.charges import timeouts
from proxyapi.charges.job_effects import publish_charge_events
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import HOLDING_STATES, MAX_CHARGE_CRASHES

QUARANTINED = "QUARANTINED"
QUARANTINED_UNSENT_REASON = (
    "Processing failed five times in a row, so it was cancelled. Nothing was sent."
)
QUARANTINED_UNKNOWN_REASON = "Processing failed five times in a row. Use “Check again” to retry."


def quarantine_failing_charge(handle: Callable[[UUID], None]) -> Callable[[UUID], None]:
    """Decorate a handler to count consecutive exceptions per charge, so that other charges go
    on."""

    @functools.wraps(handle)
    def handled(charge_id: UUID) -> None:
        try:
            handle(charge_id)
        except Exception:
            count_charge_crash(charge_id)
            raise
        Charge.objects.filter(pk=charge_id, failures__gt=0).update(failures=0)

    return handled


@transaction.atomic
def count_charge_crash(charge_id: UUID) -> None:
    """Count the failure and quarantine in one transaction: between the two no sweep would find the
    charge."""
    rows = Charge.objects.filter(pk=charge_id, state__in=HOLDING_STATES)
    rows.update(failures=F("failures") + 1)
    charge = rows.filter(failures__gte=MAX_CHARGE_CRASHES).first()
    if charge is None:
        return
    if charge.state == ChargeState.HELD:
        Charge.objects.transition(
            charge,
            ChargeState.REFUSED,
            code=QUARANTINED,
            reason=QUARANTINED_UNSENT_REASON,
            settled_at=timezone.now(),
        )
    else:
        if charge.state == ChargeState.SENDING:
            Charge.objects.transition(
                charge, ChargeState.UNKNOWN, lost_at=timeouts.latest_completion(charge)
            )
        rows.update(code=QUARANTINED, reason=QUARANTINED_UNKNOWN_REASON)
    publish_charge_events(charge)
