"""Refunds: credits that give back what a failed text-to-video took (spec, Limits; pitfalls 44, 45).

A refund is expected from the moment the job was seen failed, and counted once, when the ledger
shows it: of what was booked, or of what was told. A credit of the right amount that says nothing of
a refund stays what it is: it may be a top-up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from proxyapi import month_costs
from proxyapi.ledger.pairs import SKEW, plain
from proxyapi.models import Charge, Confidence, Entry, Ledger

Refund = tuple[Entry, Charge, Confidence, str]
Kinds = Mapping[str, Collection[str]]
KindsOf = Callable[[Ledger, Collection[str]], Kinds]


@dataclass(frozen=True, slots=True)
class Debt:
    """A charge that is to be given back, and its debit, where the ledger shows it."""

    charge: Charge
    debit: Entry | None

    @property
    def told(self) -> Decimal:
        return self.charge.cost or Decimal(0)

    @property
    def booked(self) -> Decimal:
        return -self.debit.amount if self.debit else self.told


def refunds(ledger: Ledger, kinds_of: KindsOf) -> list[Refund]:
    """New pairs of credits and the charges that are owed them; the charges are marked."""
    owed = Charge.objects.filter(
        vault=ledger.account.vault_id, refund_owed_at__isnull=False, refunded_at__isnull=True
    )
    owed = owed.filter(account_id=ledger.pk, cost__gt=0).order_by("refund_owed_at")
    debts = debts_of(owed)
    if not debts:
        return []
    kinds = kinds_of(ledger, {debt.charge.operation for debt in debts})
    free = list(credits(ledger, debts))
    found: list[Refund] = []
    # By what was booked first: a credit of what was told may be another one's.
    wanted = [(debt, debt.booked) for debt in debts]
    wanted += [(debt, debt.told) for debt in debts if debt.told != debt.booked]
    for debt, amount in wanted:
        fitting = [entry for entry in free if fits(entry, debt, kinds)]
        chosen = next((entry for entry in fitting if entry.amount == amount), None)
        if chosen is not None and mark(debt.charge, chosen):
            found.append((chosen, debt.charge, *how_sure(chosen, debt, fitting, debts)))
            free.remove(chosen)
    return found


def debts_of(charges: QuerySet[Charge]) -> list[Debt]:
    listed = list(charges)
    debits = Entry.objects.filter(charge__in=listed, amount__lt=0)
    by_charge = {entry.charge_id: entry for entry in debits}
    return [Debt(charge, by_charge.get(charge.pk)) for charge in listed]


def credits(ledger: Ledger, debts: Sequence[Debt]) -> QuerySet[Entry]:
    """Credits of these amounts that give nothing back yet."""
    amounts = {amount for debt in debts for amount in (debt.booked, debt.told)}
    rows = Entry.objects.filter(account_id=ledger.pk, charge__isnull=True, trouble="")
    return rows.filter(amount__in=amounts).order_by("position")


def fits(entry: Entry, debt: Debt, kinds: Kinds) -> bool:
    """A credit of exactly what it took, after the debit, that says what it gives back."""
    charge, debit = debt.charge, debt.debit
    if entry.amount not in (debt.booked, debt.told):
        return False
    if debit is not None and entry.position < debit.position:
        return False
    if charge.sent_at is not None and entry.happened_at < charge.sent_at - SKEW:
        return False
    usual = set(kinds.get(charge.operation, ())) | ({debit.content_type} if debit else set())
    return says_refund(entry) or entry.content_type in usual - {""}


def says_refund(entry: Entry) -> bool:
    return "refund" in f"{entry.transaction_type} {entry.label} {entry.content_type}".lower()


def mark(charge: Charge, entry: Entry) -> bool:
    """Once only, whoever finds it. What it cost is taken off whole, whatever was given back."""
    mine = Charge.objects.filter(pk=charge.pk, refunded_at__isnull=True)
    if not mine.update(refunded_at=entry.happened_at):
        return False
    month_costs.uncount(charge)
    return True


def how_sure(
    entry: Entry, debt: Debt, fitting: Sequence[Entry], debts: Sequence[Debt]
) -> tuple[Confidence, str]:
    gives = f"Gives back its {plain(entry.amount)} cr"
    if entry.amount != debt.told:
        gives = f"Gives back the {plain(entry.amount)} cr that were booked for it"
    equal = sum(entry.amount in (other.booked, other.told) for other in debts)
    if not len(fitting) == equal == 1:
        several = "several of this amount are owed or given, taken in order"
        return Confidence.LIKELY, f"{gives}; {several}."
    if entry.amount != debt.told:
        return Confidence.LIKELY, f"{gives}, though {plain(debt.told)} cr were told."
    return Confidence.CERTAIN, f"{gives}; nothing else fits."
