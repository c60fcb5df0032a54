"""The cost of a video, with how certain it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import HOLDING_STATES

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class CreditAmount:
    """Credits for `{% amount %}`. `kind`: exact, about, held, unknown ("low or value") or free;
    empty if nothing is known, which is no amount."""

    value: Decimal
    kind: str = "exact"
    low: Decimal = ZERO_CREDITS

    @property
    def is_known(self) -> bool:
        return self.kind != ""


FREE_AMOUNT = CreditAmount(ZERO_CREDITS, "free")
NOT_KNOWN_AMOUNT = CreditAmount(ZERO_CREDITS, "")


def spent_credits(charges: Sequence[Charge]) -> Decimal:
    """Sum the credits of charged charges; those that came back count nothing."""
    kept = (charge for charge in charges if charge.is_charged and charge.refunded_at is None)
    return sum((charge.cost or ZERO_CREDITS for charge in kept), ZERO_CREDITS)


def video_cost(charges: Sequence[Charge]) -> CreditAmount:
    """Return the total of a video: spent credits plus what its open charges hold or may have
    spent."""
    spent = spent_credits(charges)
    holding = [charge for charge in charges if charge.state in HOLDING_STATES and charge.hold]
    if not holding:
        return CreditAmount(spent) if any(charge.is_charged for charge in charges) else FREE_AMOUNT
    amounts = [charge_amount(charge) for charge in holding]
    total = spent + sum((amount.value for amount in amounts), ZERO_CREDITS)
    if any(amount.kind == "unknown" for amount in amounts):
        return CreditAmount(total, "unknown", spent)
    return CreditAmount(total, "held")


def imported_video_cost(charges: Sequence[Charge], debits: Decimal) -> CreditAmount:
    """Return the total of an imported video: `debits`, which the ledger shows under its title, are
    about what it cost."""
    own = video_cost(charges)
    if not debits:
        return NOT_KNOWN_AMOUNT if own == FREE_AMOUNT else own
    kind = "about" if own.kind in ("exact", "free") else own.kind
    return CreditAmount(own.value + debits, kind, own.low + debits)


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
