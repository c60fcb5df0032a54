"""The verdict on charges: the sandbox's own records against ours, by rule 2."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from proxyapi import ledger
from proxyapi.models import Account, Charge, ChargeState
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.rate_limiter import Priority
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount
from tests.reconciliation import build_reconciliation

NOTHING = Decimal(0)


@dataclass
class ChargeAudit:
    """What went wrong, by kind, with how to find it; and how many charges were looked at."""

    charges: int = 0
    double: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    false_failed: list[str] = field(default_factory=list)
    unexplained: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)  # faults that no request met: nothing was tried
    slowest: float = 0.0  # seconds from the fault's end to the settling

    @property
    def kinds(self) -> Mapping[str, list[str]]:
        return {
            "double charges": self.double,
            "lost intents": self.lost,
            'false "failed"': self.false_failed,
            "unexplained": self.unexplained,
            "not settled": self.open,
        }

    @property
    def problems(self) -> list[str]:
        return [problem for found in self.kinds.values() for problem in found]

    def merge(self, other: ChargeAudit) -> None:
        """Add what another worker found."""
        self.charges += other.charges
        self.slowest = max(self.slowest, other.slowest)
        self.unmet += other.unmet
        for ours, theirs in zip(self.kinds.values(), other.kinds.values(), strict=True):
            ours += theirs

    def judge_charge(self, charge: Charge, taken: Decimal, what: str) -> None:
        """One charge, and what the sandbox took for it."""
        self.charges += 1
        told = f"{what}: {charge.state} {charge.cost} {charge.code}, the sandbox took {taken}"
        if charge.state not in FINAL_STATES:
            self.open.append(told)
        elif charge.state not in CHARGED_STATES and taken:
            self.false_failed.append(told)
        elif charge.state in CHARGED_STATES and charge.cost != taken:
            self.unexplained.append(told)

    def check_account(self, stage: SandboxAccount, what: str, *, untrue: Decimal = NOTHING) -> None:
        """The whole account: the sandbox's audit, and our mirror of its ledger.

        `untrue`: what it told that its charges cost beyond what it took.
        """
        books = stage.account_money()
        self.double += [f"{what}: {charge}" for charge in books["double_charges"]]
        account = Account.objects.get(pk=stage.token.account_id)
        ledger.mirror_entries(account, Priority.PERSON, 5)
        ours = build_reconciliation(account)
        told = f"{what}: ledger {books['ledger_sum']}, mirrored {ours.entries_sum}"
        if not books["balanced"] or Decimal(str(books["ledger_sum"])) != ours.entries_sum:
            self.unexplained.append(told)
        if ours.unexplained != untrue or ours.outside != stage.aside:
            self.unexplained.append(
                f"{told}, charged {ours.charged}, matched {ours.matched}, "
                f"outside {ours.outside} of {stage.aside}"
            )
        held = Charge.objects.filter(account=account, state=ChargeState.HELD).count()
        if held:
            self.open.append(f"{what}: {held} held")
