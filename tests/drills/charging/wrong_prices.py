"""Lies about the price: the service takes one cost and tells another, drawn by chance.

A clip's price is exact, so no more is held for it, and no other cost is believed. A render's is
about, so a cost up to what was held is believed (pitfall 43), and shown beside what the ledger
booked. Neither is ever free (spec, Credit charges). What is not believed, the ledger decides.
"""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import NamedTuple

import httpx

from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, LedgerEntry
from tests.admission import admit_charge
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import (
    SandboxAccount,
    open_sandbox_account,
    work_until_settled,
)
from tests.reconciliation import build_reconciliation

CLIP, RENDER = "text_to_video.create", "faceless.render"
# Where the told cost lies, against the price that was shown and what was held for it.
PLACES = (
    *((CLIP, "nothing"), (CLIP, "below"), (CLIP, "above")),
    *((RENDER, "nothing"), (RENDER, "below"), (RENDER, "within"), (RENDER, "above")),
)


class WrongPrice(NamedTuple):
    """A charge for which the service took another cost than it reported."""

    place: str
    stage: SandboxAccount
    charge: Charge
    told: Decimal
    taken: Decimal

    @property
    def description(self) -> str:
        return f"{self.charge.operation}, {self.place}: {self.told} cr told, {self.taken} cr taken"

    @property
    def is_unexplained(self) -> bool:
        """Whether the price that was shown does not explain it: then the ledger decides."""
        return self.charge.operation == CLIP or not 0 < self.told <= self.charge.hold

    @property
    def is_booked(self) -> bool:
        """Whether its debit is known as such."""
        return LedgerEntry.objects.filter(charge=self.charge, amount=-self.taken).count() == 1

    @property
    def is_shown(self) -> bool:
        """Whether the ledger's page shows it."""
        found = build_reconciliation(self.stage.token.account).differences
        return any(one.charge == self.charge for one in found)

    @property
    def is_settled_by_ledger(self) -> bool:
        return self.charge.cost == self.taken and self.is_booked and not self.is_shown

    def check_accounts(self, verdict: ChargeAudit) -> None:
        """The account's sums, which differ only by what was believed."""
        untrue = Decimal(0) if self.is_unexplained else self.told - self.taken
        verdict.check_account(self.stage, self.description, untrue=untrue)


def charge_wrong_price(
    control: httpx.Client, operation: str, place: str, chance: Random
) -> WrongPrice:
    """On an account of its own, where nothing else fits its debit."""
    with open_sandbox_account(control, empty=False) as stage:
        intent = INTENT_MAKERS[operation](stage)
        told = draw_amount(intent, place, chance)
        meta = {"credits": {"cost": float(told), "remaining": 1000}}
        data = {"asset": {"id": chance.randrange(10**7, 10**9), "status": "draft"}}
        body = {"message": "OK", "status": 202, "data": data, "meta": meta}
        stage.set_fault(path_pattern(operation), "status", "after", code=202, body=body)
        charge = work_until_settled(admit_charge(intent), 60)
    return WrongPrice(place, stage, charge, told, stage.spent_credits() - stage.aside)


def draw_amount(intent: ChargeIntent, place: str, chance: Random) -> Decimal:
    """Credits to the hundredth, never whole as the prices of the sandbox are."""
    if place == "nothing":
        return Decimal(0)
    price, hold = int(intent.quote or 0), int(intent.hold)
    low, high = {"below": (0, price), "within": (price, hold), "above": (hold, 3 * hold)}[place]
    return chance.randrange(low, high) + Decimal(chance.randrange(1, 100)) / 100
