"""What a video cost, in the form that says how sure the number is (look §10.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proxyapi.models import Charge, ChargeState

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Amount:
    """Credits for `{% amount %}`: `is_` is exact, about, held, unknown ("low or value") or free."""

    value: Decimal
    is_: str = "exact"
    low: Decimal = NOTHING


FREE = Amount(NOTHING, "free")


def settled(charges: Sequence[Charge]) -> Decimal:
    """Credits that are spent for certain."""
    return sum((charge.cost or NOTHING for charge in charges if charge.is_charged), NOTHING)


def cost_of(charges: Sequence[Charge], open_charge: Charge | None) -> Amount:
    """The whole of a video: what is spent, and with it what is held or in doubt."""
    spent = settled(charges)
    if open_charge is None or open_charge.state == ChargeState.DRAFT:
        return Amount(spent) if any(charge.is_charged for charge in charges) else FREE
    if open_charge.state == ChargeState.UNKNOWN:
        return Amount(spent + open_charge.price, "unknown", spent)
    return Amount(spent + open_charge.hold, "held")


def amount_of(charge: Charge) -> Amount:
    """One charge alone."""
    if charge.is_charged:
        return Amount(charge.cost or NOTHING)
    if charge.state in (ChargeState.REFUSED, ChargeState.WRITTEN_OFF):
        return Amount(NOTHING)
    if charge.state == ChargeState.UNKNOWN:
        return Amount(charge.price, "unknown")
    if charge.state == ChargeState.DRAFT:
        return Amount(charge.price, "about")
    return Amount(charge.hold, "held")
