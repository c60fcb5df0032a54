"""Refunds: credits that give back what a failed text-to-video took (spec, Limits; pitfalls 44, 45).

A refund is expected once the job was seen failed, and counted once, when the ledger shows a credit
of what was booked or reported that says refund: another one may be a top-up. A clip whose id was
lost is never seen to fail: a refund that nobody is owed is its own, unless another clip may be the
one that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Q, QuerySet
from django.utils import timezone

from proxyapi.ledger.matching_rules import MATCH_CLOCK_SKEW
from proxyapi.models import Charge, JobState, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.account import amount_text
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES
from proxyapi.operations import REFUNDABLE_OPERATIONS
from proxyapi.rollups import price_counts

MAX_REFUND_DELAY = timedelta(days=1)  # a clip fails within minutes, and is given back by itself
REFUND_SEARCH_PERIOD = timedelta(days=30)  # after its id was lost; so few rows are gone through
RefundMatch = tuple[LedgerEntry, Charge, MatchConfidence, str]
ContentTypesByOperation = Mapping[str, Collection[str]]
ContentTypeLookup = Callable[[LedgerMirror, Collection[str]], ContentTypesByOperation]


@dataclass(frozen=True, slots=True)
class ExpectedRefund:
    """A charge that is, or may be, to be given back, and its debit, where the ledger shows it."""

    charge: Charge
    debit: LedgerEntry | None

    @property
    def reported_cost(self) -> Decimal:
        return self.charge.cost or Decimal(0)

    @property
    def booked_cost(self) -> Decimal:
        return -self.debit.amount if self.debit else self.reported_cost


def match_refunds(ledger: LedgerMirror, kinds_of: ContentTypeLookup) -> list[RefundMatch]:
    """New pairs of credits and the charges that they give back; the charges are marked."""
    found = match_owed_refunds(ledger, kinds_of)
    return found + match_unidentified_refunds(ledger, {entry.pk for entry, *_ in found})


def match_owed_refunds(ledger: LedgerMirror, kinds_of: ContentTypeLookup) -> list[RefundMatch]:
    owed = unrefunded_charges(ledger).filter(refund_owed_at__isnull=False, cost__gt=0)
    debts = build_expected_refunds(owed.order_by("refund_owed_at"))
    if not debts:
        return []
    kinds = kinds_of(ledger, {debt.charge.operation for debt in debts})
    free = list(unmatched_credits(ledger, debts))
    found: list[RefundMatch] = []
    # By what was booked first: a credit of what was told may be another one's.
    wanted = [(debt, debt.booked_cost) for debt in debts]
    wanted += [
        (debt, debt.reported_cost) for debt in debts if debt.reported_cost != debt.booked_cost
    ]
    for debt, amount in wanted:
        fitting = [entry for entry in free if is_refund_of(entry, debt, kinds)]
        chosen = next((entry for entry in fitting if entry.amount == amount), None)
        if chosen is not None and mark_charge_refunded(debt.charge, chosen):
            found.append((chosen, debt.charge, *rate_refund(chosen, debt, fitting, debts)))
            free.remove(chosen)
    return found


def unrefunded_charges(ledger: LedgerMirror) -> QuerySet[Charge]:
    return Charge.objects.filter(
        tenant=ledger.account.tenant_id, account_id=ledger.pk, refunded_at__isnull=True
    )


def build_expected_refunds(charges: QuerySet[Charge]) -> list[ExpectedRefund]:
    listed = list(charges)
    debits = LedgerEntry.objects.filter(charge__in=listed, amount__lt=0)
    by_charge = {entry.charge_id: entry for entry in debits}
    return [ExpectedRefund(charge, by_charge.get(charge.pk)) for charge in listed]


def unmatched_credits(
    ledger: LedgerMirror, debts: Sequence[ExpectedRefund]
) -> QuerySet[LedgerEntry]:
    """Credits of these amounts that give nothing back yet."""
    amounts = {amount for debt in debts for amount in (debt.booked_cost, debt.reported_cost)}
    rows = LedgerEntry.objects.without_charge().filter(account_id=ledger.pk, trouble="")
    return rows.filter(amount__in=amounts).order_by("position")


def is_refund_of(entry: LedgerEntry, debt: ExpectedRefund, kinds: ContentTypesByOperation) -> bool:
    """A credit of exactly what it took, after the debit, that says what it gives back."""
    charge, debit = debt.charge, debt.debit
    if entry.amount not in (debt.booked_cost, debt.reported_cost):
        return False
    if debit is not None and entry.position < debit.position:
        return False
    if charge.sent_at is not None and entry.happened_at < charge.sent_at - MATCH_CLOCK_SKEW:
        return False
    usual = set(kinds.get(charge.operation, ())) | ({debit.content_type} if debit else set())
    return mentions_refund(entry) or entry.content_type in usual - {""}


def mentions_refund(entry: LedgerEntry) -> bool:
    return "refund" in f"{entry.transaction_type} {entry.label} {entry.content_type}".lower()


def mark_charge_refunded(charge: Charge, entry: LedgerEntry) -> bool:
    mine = Charge.objects.filter(pk=charge.pk, refunded_at__isnull=True)
    if not mine.update(refunded_at=entry.happened_at):
        return False
    price_counts.uncount_charge(charge)
    return True


def rate_refund(
    entry: LedgerEntry,
    debt: ExpectedRefund,
    fitting: Sequence[LedgerEntry],
    debts: Sequence[ExpectedRefund],
) -> tuple[MatchConfidence, str]:
    gives = f"Refunds its {amount_text(entry.amount)} cr"
    if entry.amount != debt.reported_cost:
        gives = f"Refunds the {amount_text(entry.amount)} cr that were charged for it"
    equal = sum(entry.amount in (other.booked_cost, other.reported_cost) for other in debts)
    equal += count_owed_to_other_teams(entry)
    if not len(fitting) == equal == 1:
        several = "several refunds of this amount, matched in order"
        return MatchConfidence.LIKELY, f"{gives}; {several}."
    if entry.amount != debt.reported_cost:
        return (
            MatchConfidence.LIKELY,
            f"{gives}, although {amount_text(debt.reported_cost)} cr were reported.",
        )
    return MatchConfidence.CERTAIN, f"{gives}; nothing else matches."


def count_owed_to_other_teams(entry: LedgerEntry) -> int:
    """How many charges of other teams on the upstream account it may give back as well."""
    charges = Charge.objects.of_upstream_account(entry.account_id)
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True, cost=entry.amount)
    return owed.exclude(account_id=entry.account_id).count()


def match_unidentified_refunds(ledger: LedgerMirror, taken: Collection[int]) -> list[RefundMatch]:
    """What nobody is owed: it may give back a clip that was paid, and cannot be looked at."""
    since = timezone.now() - REFUND_SEARCH_PERIOD
    lost = unrefunded_charges(ledger).filter(unidentified_at__gte=since)
    debts = build_expected_refunds(
        lost.filter(operation__in=REFUNDABLE_OPERATIONS, state__in=CHARGED_STATES).order_by(
            "sent_at"
        )
    )
    times = [debt.debit.happened_at for debt in debts if debt.debit]
    if not times:
        return []
    left = unmatched_credits(ledger, debts).exclude(pk__in=taken)
    found: list[RefundMatch] = []
    for entry in left.filter(happened_at__range=(min(times), max(times) + MAX_REFUND_DELAY)):
        fitting = [debt for debt in debts if may_refund_unidentified(entry, debt)]
        if not fitting or may_refund_another_clip(entry, fitting[0]):
            continue
        if mark_charge_refunded(fitting[0].charge, entry):
            found.append(
                (
                    entry,
                    fitting[0].charge,
                    MatchConfidence.LIKELY,
                    unidentified_refund_reason(entry, fitting),
                )
            )
        debts.remove(fitting[0])
    return found


def may_refund_unidentified(entry: LedgerEntry, debt: ExpectedRefund) -> bool:
    """A credit of exactly what it took, soon after the debit, that says refund and of no other
    kind."""
    debit = debt.debit
    if debit is None or entry.position < debit.position or not mentions_refund(entry):
        return False
    kind = entry.content_type
    return (
        entry.amount in (debt.booked_cost, debt.reported_cost)
        and entry.happened_at <= debit.happened_at + MAX_REFUND_DELAY
        and (kind in ("", debit.content_type) or "refund" in kind.lower())
    )


def may_refund_another_clip(entry: LedgerEntry, debt: ExpectedRefund) -> bool:
    """Whether another clip may have failed: of ours any not seen completed, any outside."""
    since, account = entry.happened_at - MAX_REFUND_DELAY, entry.account_id
    took = Q(cost=entry.amount) | Q(entries__amount=-entry.amount)
    ours = (
        Charge.objects.of_upstream_account(account)
        .filter(
            Q(state__in=UNDECIDED_STATES) | (Q(state__in=CHARGED_STATES) & took),
            operation__in=REFUNDABLE_OPERATIONS,
            unidentified_at__isnull=True,
            refunded_at__isnull=True,
            sent_at__range=(since, entry.happened_at + MATCH_CLOCK_SKEW),
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


def unidentified_refund_reason(entry: LedgerEntry, fitting: Sequence[ExpectedRefund]) -> str:
    told = (
        f"Refunds its {amount_text(entry.amount)} cr according to its label; the failure itself "
        "was not seen"
    )
    if len(fitting) == 1:
        return f"{told}, and nothing else matches."
    return f"{told}; one of {len(fitting)} equal ones, matched in order."
