"""The cost of a video, with how certain it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proxyapi.models import Charge, ChargeState

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class CreditAmount:
    """Credits for `{% amount %}`. `kind`: exact, about, held, unknown ("low or value") or free."""

    value: Decimal
    kind: str = "exact"
    low: Decimal = ZERO_CREDITS


FREE_AMOUNT = CreditAmount(ZERO_CREDITS, "free")


def spent_credits(charges: Sequence[Charge]) -> Decimal:
    """Sum the credits of charged charges."""
    return sum(
        (charge.cost or ZERO_CREDITS for charge in charges if charge.is_charged), ZERO_CREDITS
    )


def video_cost(charges: Sequence[Charge], open_charge: Charge | None) -> CreditAmount:
    """Return the total of a video: spent credits plus what the open charge holds or may have
    spent."""
    spent = spent_credits(charges)
    if open_charge is None or open_charge.state == ChargeState.DRAFT:
        return CreditAmount(spent) if any(charge.is_charged for charge in charges) else FREE_AMOUNT
    if open_charge.state == ChargeState.UNKNOWN:
        return CreditAmount(spent + open_charge.price, "unknown", spent)
    return CreditAmount(spent + open_charge.hold, "held")


def charge_amount(charge: Charge) -> CreditAmount:
    if charge.is_charged:
        return CreditAmount(charge.cost or ZERO_CREDITS)
    if charge.state in (ChargeState.REFUSED, ChargeState.WRITTEN_OFF):
        return CreditAmount(ZERO_CREDITS)
    if charge.state == ChargeState.UNKNOWN:
        return CreditAmount(charge.price, "unknown")
    if charge.state == ChargeState.DRAFT:
        return CreditAmount(charge.price, "about")
    return CreditAmount(charge.hold, "held")
