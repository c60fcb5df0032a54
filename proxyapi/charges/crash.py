"""Crashes: a charge that breaks whoever handles it is parked after five times, with a reason."""

from __future__ import annotations

import functools
from collections.abc import Callable
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from proxyapi.charges import waits
from proxyapi.charges.effect import announce
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import HOLDING, PARKED_AFTER

PARKED = "PARKED"
UNSENT = "It could not be handled five times in a row, so it was given up. Nothing was sent."
STUCK = "It could not be handled five times in a row. “Look again” tries once more."


def counted(handle: Callable[[UUID], None]) -> Callable[[UUID], None]:
    """Count the times in a row that handling a charge raised; others are not affected by it."""

    @functools.wraps(handle)
    def handled(charge_id: UUID) -> None:
        try:
            handle(charge_id)
        except Exception:
            crashed(charge_id)
            raise
        Charge.objects.filter(pk=charge_id, crashes__gt=0).update(crashes=0)

    return handled


@transaction.atomic
def crashed(charge_id: UUID) -> None:
    """Counted and parked in one step: between the two nobody would come back to it."""
    rows = Charge.objects.filter(pk=charge_id, state__in=HOLDING)
    rows.update(crashes=F("crashes") + 1)
    charge = rows.filter(crashes__gte=PARKED_AFTER).first()
    if charge is None:
        return
    if charge.state == ChargeState.HELD:
        Charge.objects.move(
            charge, ChargeState.REFUSED, code=PARKED, reason=UNSENT, settled_at=timezone.now()
        )
    else:
        if charge.state == ChargeState.SENDING:
            Charge.objects.move(charge, ChargeState.UNKNOWN, lost_at=waits.ended(charge))
        rows.update(code=PARKED, reason=STUCK)
    announce(charge)
