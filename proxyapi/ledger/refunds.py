"""Refunds: credits that give back what a failed text-to-video took (spec, Limits; pitfalls 44, 45).

A refund is expected from the moment the job was seen failed, and counted once, when the ledger
shows it. A credit of the right amount that says nothing of a refund stays what it is: it may be a
top-up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from proxyapi import month_costs
from proxyapi.ledger.pairs import SKEW, plain
from proxyapi.models import Charge, Confidence, Entry, Ledger

Refund = tuple[Entry, Charge, Confidence, str]
Kinds = Mapping[str, Collection[str]]
KindsOf = Callable[[Ledger, Collection[str]], Kinds]


def refunds(ledger: Ledger, kinds_of: KindsOf) -> list[Refund]:
    """New pairs of credits and the charges that are owed them; the charges are marked."""
    owed = Charge.objects.filter(
        vault=ledger.account.vault_id, refund_owed_at__isnull=False, refunded_at__isnull=True
    )
    waiting = list(owed.filter(account_id=ledger.pk, cost__gt=0).order_by("refund_owed_at"))
    if not waiting:
        return []
    kinds = kinds_of(ledger, {charge.operation for charge in waiting})
    free = list(
        Entry.objects.filter(
            account_id=ledger.pk,
            charge__isnull=True,
            trouble="",
            amount__in={charge.cost for charge in waiting},
        ).order_by("position")
    )
    found: list[Refund] = []
    for charge in waiting:
        fitting = [entry for entry in free if fits(entry, charge, kinds)]
        if fitting and mark(charge, fitting[0]):
            found.append((fitting[0], charge, *how_sure(charge, fitting, waiting)))
            free.remove(fitting[0])
    return found


def fits(entry: Entry, charge: Charge, kinds: Kinds) -> bool:
    """A credit of exactly the cost, after the debit, that says what it gives back."""
    debit = charge.entries.filter(amount__lt=0).first()
    if entry.amount != charge.cost or (debit is not None and entry.position < debit.position):
        return False
    if charge.sent_at is not None and entry.happened_at < charge.sent_at - SKEW:
        return False
    said = f"{entry.transaction_type} {entry.label} {entry.content_type}".lower()
    usual = set(kinds.get(charge.operation, ())) | ({debit.content_type} if debit else set())
    return "refund" in said or entry.content_type in usual - {""}


def mark(charge: Charge, entry: Entry) -> bool:
    """Once only, whoever finds it."""
    mine = Charge.objects.filter(pk=charge.pk, refunded_at__isnull=True)
    if not mine.update(refunded_at=entry.happened_at):
        return False
    month_costs.uncount(charge)
    return True


def how_sure(charge: Charge, fitting: list[Entry], waiting: list[Charge]) -> tuple[Confidence, str]:
    equal = sum(other.cost == charge.cost for other in waiting)
    gives = f"Gives back its {plain(charge.cost or fitting[0].amount)} cr"
    if len(fitting) == equal == 1:
        return Confidence.CERTAIN, f"{gives}; nothing else fits."
    return Confidence.LIKELY, f"{gives}; several of this amount are owed or given, taken in order."
