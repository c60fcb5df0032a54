"""Refunds: credits that give back what a failed text-to-video took (spec, Limits; pitfalls 44, 45).

A refund is expected from the moment the job was seen failed, and counted once, when the ledger
shows it: of what was booked, or of what was told. A credit of the right amount that says nothing of
a refund stays what it is: it may be a top-up.

Nobody sees a clip fail whose id was lost with its answer. A credit that nobody is owed, and that
calls itself a refund, is its own, unless another clip may be the one that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Q, QuerySet
from django.utils import timezone

from proxyapi.ledger.pairs import SKEW
from proxyapi.models import Charge, JobState, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.account import amount_text
from proxyapi.models.charge import CHARGED_STATES, REFUNDABLE_OPERATIONS, UNDECIDED_STATES
from proxyapi.rollups import price_counts

SOON = timedelta(days=1)  # a clip fails within minutes, and is given back by itself
LOOKED_FOR = timedelta(days=30)  # after its id was lost; so few rows are gone through
Refund = tuple[LedgerEntry, Charge, MatchConfidence, str]
Kinds = Mapping[str, Collection[str]]
KindsOf = Callable[[LedgerMirror, Collection[str]], Kinds]


@dataclass(frozen=True, slots=True)
class Debt:
    """A charge that is, or may be, to be given back, and its debit, where the ledger shows it."""

    charge: Charge
    debit: LedgerEntry | None

    @property
    def told(self) -> Decimal:
        return self.charge.cost or Decimal(0)

    @property
    def booked(self) -> Decimal:
        return -self.debit.amount if self.debit else self.told


def refunds(ledger: LedgerMirror, kinds_of: KindsOf) -> list[Refund]:
    """New pairs of credits and the charges that they give back; the charges are marked."""
    found = of_owed(ledger, kinds_of)
    return found + of_orphans(ledger, {entry.pk for entry, *_ in found})


def of_owed(ledger: LedgerMirror, kinds_of: KindsOf) -> list[Refund]:
    owed = not_given_back(ledger).filter(refund_owed_at__isnull=False, cost__gt=0)
    debts = debts_of(owed.order_by("refund_owed_at"))
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


def not_given_back(ledger: LedgerMirror) -> QuerySet[Charge]:
    return Charge.objects.filter(
        vault=ledger.account.vault_id, account_id=ledger.pk, refunded_at__isnull=True
    )


def debts_of(charges: QuerySet[Charge]) -> list[Debt]:
    listed = list(charges)
    debits = LedgerEntry.objects.filter(charge__in=listed, amount__lt=0)
    by_charge = {entry.charge_id: entry for entry in debits}
    return [Debt(charge, by_charge.get(charge.pk)) for charge in listed]


def credits(ledger: LedgerMirror, debts: Sequence[Debt]) -> QuerySet[LedgerEntry]:
    """Credits of these amounts that give nothing back yet."""
    amounts = {amount for debt in debts for amount in (debt.booked, debt.told)}
    rows = LedgerEntry.objects.without_charge().filter(account_id=ledger.pk, trouble="")
    return rows.filter(amount__in=amounts).order_by("position")


def fits(entry: LedgerEntry, debt: Debt, kinds: Kinds) -> bool:
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


def says_refund(entry: LedgerEntry) -> bool:
    return "refund" in f"{entry.transaction_type} {entry.label} {entry.content_type}".lower()


def mark(charge: Charge, entry: LedgerEntry) -> bool:
    """Once only, whoever finds it. What it cost is taken off whole, whatever was given back."""
    mine = Charge.objects.filter(pk=charge.pk, refunded_at__isnull=True)
    if not mine.update(refunded_at=entry.happened_at):
        return False
    price_counts.uncount_charge(charge)
    return True


def how_sure(
    entry: LedgerEntry, debt: Debt, fitting: Sequence[LedgerEntry], debts: Sequence[Debt]
) -> tuple[MatchConfidence, str]:
    gives = f"Gives back its {amount_text(entry.amount)} cr"
    if entry.amount != debt.told:
        gives = f"Gives back the {amount_text(entry.amount)} cr that were booked for it"
    equal = sum(entry.amount in (other.booked, other.told) for other in debts)
    equal += owed_to_other_teams(entry)
    if not len(fitting) == equal == 1:
        several = "several of this amount are owed or given, taken in order"
        return MatchConfidence.LIKELY, f"{gives}; {several}."
    if entry.amount != debt.told:
        return MatchConfidence.LIKELY, f"{gives}, though {amount_text(debt.told)} cr were told."
    return MatchConfidence.CERTAIN, f"{gives}; nothing else fits."


def owed_to_other_teams(entry: LedgerEntry) -> int:
    """How many charges of other teams on the upstream account it may give back as well."""
    charges = Charge.objects.of_upstream_account(entry.account_id)
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True, cost=entry.amount)
    return owed.exclude(account_id=entry.account_id).count()


def of_orphans(ledger: LedgerMirror, taken: Collection[int]) -> list[Refund]:
    """What nobody is owed: it may give back a clip that was paid, and cannot be looked at."""
    since = timezone.now() - LOOKED_FOR
    lost = not_given_back(ledger).filter(orphan_at__gte=since)
    debts = debts_of(
        lost.filter(operation__in=REFUNDABLE_OPERATIONS, state__in=CHARGED_STATES).order_by(
            "sent_at"
        )
    )
    times = [debt.debit.happened_at for debt in debts if debt.debit]
    if not times:
        return []
    left = credits(ledger, debts).exclude(pk__in=taken)
    found: list[Refund] = []
    for entry in left.filter(happened_at__range=(min(times), max(times) + SOON)):
        fitting = [debt for debt in debts if may_give_back(entry, debt)]
        if not fitting or is_another_clips(entry, fitting[0]):
            continue
        if mark(fitting[0].charge, entry):
            found.append((entry, fitting[0].charge, MatchConfidence.LIKELY, why(entry, fitting)))
        debts.remove(fitting[0])
    return found


def may_give_back(entry: LedgerEntry, debt: Debt) -> bool:
    """A credit of exactly what it took, soon after the debit, that says refund and of no other
    kind."""
    debit = debt.debit
    if debit is None or entry.position < debit.position or not says_refund(entry):
        return False
    kind = entry.content_type
    return (
        entry.amount in (debt.booked, debt.told)
        and entry.happened_at <= debit.happened_at + SOON
        and (kind in ("", debit.content_type) or "refund" in kind.lower())
    )


def is_another_clips(entry: LedgerEntry, debt: Debt) -> bool:
    """Whether the one that failed may be another: of ours, any that was not seen done, and outside
    the portal any at all, as nobody can tell what became of it."""
    since, account = entry.happened_at - SOON, entry.account_id
    took = Q(cost=entry.amount) | Q(entries__amount=-entry.amount)
    ours = (
        Charge.objects.of_upstream_account(account)
        .filter(
            Q(state__in=UNDECIDED_STATES) | (Q(state__in=CHARGED_STATES) & took),
            operation__in=REFUNDABLE_OPERATIONS,
            orphan_at__isnull=True,
            refunded_at__isnull=True,
            sent_at__range=(since, entry.happened_at + SKEW),
        )
        .exclude(job__state=JobState.COMPLETED)
    )
    outside = LedgerEntry.objects.without_charge().filter(
        account=account,
        amount=-entry.amount,
        content_type=debt.debit.content_type if debt.debit else "",
        position__lt=entry.position,
        happened_at__gte=since,
    )
    return ours.exists() or outside.exists()


def why(entry: LedgerEntry, fitting: Sequence[Debt]) -> str:
    told = f"Gives back its {amount_text(entry.amount)} cr by its words; nobody could see it fail"
    if len(fitting) == 1:
        return f"{told}, and nothing else fits."
    return f"{told}; one of {len(fitting)} equal ones, taken in order."
