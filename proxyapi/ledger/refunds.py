"""Refunds: credits that give back what a charge cost (spec, Limits; pitfalls 44, 45).

Only for a failed text-to-video are they documented. That one is expected once a poll read the job
as failed. It is counted once, when the ledger has a credit of the booked or reported amount that is
marked as a refund: any other credit may be a top-up. A clip whose id was lost is never read as
failed: a refund that no other charge expects is matched to it, unless another clip may be the one
that failed.

Any other credit that says that it gives back, and fits one charge only, is proposed as its refund:
the whole cost of a job that failed is *likely*, all else is *weak*. A part of the cost is linked,
and leaves the charge counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Q, QuerySet
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.ledger.matching_rules import MATCH_CLOCK_SKEW
from proxyapi.models import Charge, JobState, LedgerEntry, LedgerMirror, MatchConfidence
from proxyapi.models.account import amount_text
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES
from proxyapi.operations import REFUNDABLE_OPERATIONS
from proxyapi.rollups import price_counts

MAX_REFUND_DELAY = timedelta(days=1)  # a clip fails within minutes and is refunded automatically
MAX_PUBLISHED_REFUNDS = 24  # the newest; a whole batch may have failed
REFUND_SEARCH_PERIOD = timedelta(days=30)  # after the id was lost; bounds the rows searched
REFUND_WORDS = re.compile(
    r"refund|reimburs|revers(al|ed)|compensat|chargeback"
    r"|(credit|give|pay|roll)(s|ed|n|ing)?[ -]?back|returned",
    re.IGNORECASE,
)
RefundMatch = tuple[LedgerEntry, Charge, MatchConfidence, str]
ContentTypesByOperation = Mapping[str, Collection[str]]
ContentTypeLookup = Callable[[LedgerMirror, Collection[str]], ContentTypesByOperation]


@dataclass(frozen=True, slots=True)
class ExpectedRefund:
    """A charge whose refund is, or may be, expected, and its debit, if the ledger has it."""

    charge: Charge
    debit: LedgerEntry | None

    @property
    def reported_cost(self) -> Decimal:
        return self.charge.cost or Decimal(0)

    @property
    def booked_cost(self) -> Decimal:
        return -self.debit.amount if self.debit else self.reported_cost


def match_refunds(ledger: LedgerMirror, kinds_of: ContentTypeLookup) -> list[RefundMatch]:
    """Match new credits to the charges that they refund, and mark the charges as refunded."""
    matches = match_owed_refunds(ledger, kinds_of)
    matches += match_unidentified_refunds(ledger, {entry.pk for entry, *_ in matches})
    return matches + match_undocumented_refunds(ledger, {entry.pk for entry, *_ in matches})


def match_owed_refunds(ledger: LedgerMirror, kinds_of: ContentTypeLookup) -> list[RefundMatch]:
    owed = unrefunded_charges(ledger).filter(refund_owed_at__isnull=False, cost__gt=0)
    debts = build_expected_refunds(owed.order_by("refund_owed_at"))
    if not debts:
        return []
    kinds = kinds_of(ledger, {debt.charge.operation for debt in debts})
    open_credits = list(unmatched_credits(ledger, debts))
    matches: list[RefundMatch] = []
    # Booked amounts first: a credit of the reported amount may belong to another charge.
    amounts = [(debt, debt.booked_cost) for debt in debts]
    amounts += [
        (debt, debt.reported_cost) for debt in debts if debt.reported_cost != debt.booked_cost
    ]
    for debt, amount in amounts:
        fitting = [entry for entry in open_credits if is_refund_of(entry, debt, kinds)]
        chosen = next((entry for entry in fitting if entry.amount == amount), None)
        if chosen is not None and mark_charge_refunded(debt.charge, chosen):
            matches.append((chosen, debt.charge, *rate_refund(chosen, debt, fitting, debts)))
            open_credits.remove(chosen)
    publish_refund_search(debts)
    return matches


def publish_refund_search(debts: Sequence[ExpectedRefund]) -> None:
    """Have open pages show each search: that a refund came, or for how long it did not."""
    for debt in debts[-MAX_PUBLISHED_REFUNDS:]:
        if debt.charge.job_id is not None:
            publish_event(debt.charge.tenant_id, EventType.JOB, debt.charge.job_id)


def unrefunded_charges(ledger: LedgerMirror) -> QuerySet[Charge]:
    return Charge.objects.filter(
        tenant=ledger.account.tenant_id, account_id=ledger.pk, refunded_at__isnull=True
    )


def build_expected_refunds(charges: QuerySet[Charge]) -> list[ExpectedRefund]:
    loaded = list(charges)
    debits = LedgerEntry.objects.filter(charge__in=loaded, amount__lt=0)
    by_charge = {entry.charge_id: entry for entry in debits}
    return [ExpectedRefund(charge, by_charge.get(charge.pk)) for charge in loaded]


def unmatched_credits(
    ledger: LedgerMirror, debts: Sequence[ExpectedRefund]
) -> QuerySet[LedgerEntry]:
    """Unmatched credits of the amounts of these expected refunds."""
    amounts = {amount for debt in debts for amount in (debt.booked_cost, debt.reported_cost)}
    rows = LedgerEntry.objects.without_charge().filter(account_id=ledger.pk, trouble="")
    return rows.filter(amount__in=amounts).order_by("position")


def is_refund_of(entry: LedgerEntry, debt: ExpectedRefund, kinds: ContentTypesByOperation) -> bool:
    """Whether it is a credit of exactly the cost, after the debit, marked as a refund or of a known
    content type."""
    charge, debit = debt.charge, debt.debit
    if entry.amount not in (debt.booked_cost, debt.reported_cost):
        return False
    if debit is not None and entry.position < debit.position:
        return False
    if charge.sent_at is not None and entry.happened_at < charge.sent_at - MATCH_CLOCK_SKEW:
        return False
    content_types = set(kinds.get(charge.operation, ())) | (
        {debit.content_type} if debit else set()
    )
    return mentions_refund(entry) or entry.content_type in content_types - {""}


def mentions_refund(entry: LedgerEntry) -> bool:
    text = f"{entry.transaction_type} {entry.label} {entry.content_type}"
    return REFUND_WORDS.search(text) is not None


def mark_charge_refunded(charge: Charge, entry: LedgerEntry) -> bool:
    unrefunded = Charge.objects.filter(pk=charge.pk, refunded_at__isnull=True)
    if not unrefunded.update(refunded_at=entry.happened_at):
        return False
    price_counts.uncount_charge(charge)
    return True


def rate_refund(
    entry: LedgerEntry,
    debt: ExpectedRefund,
    fitting: Sequence[LedgerEntry],
    debts: Sequence[ExpectedRefund],
) -> tuple[MatchConfidence, str]:
    text = f"Refunds its {amount_text(entry.amount)} cr"
    if entry.amount != debt.reported_cost:
        text = f"Refunds the {amount_text(entry.amount)} cr that were charged for it"
    equal = sum(entry.amount in (other.booked_cost, other.reported_cost) for other in debts)
    equal += count_owed_to_other_teams(entry)
    if not len(fitting) == equal == 1:
        several = "several refunds of this amount, matched in order"
        return MatchConfidence.LIKELY, f"{text}; {several}."
    if entry.amount != debt.reported_cost:
        return (
            MatchConfidence.LIKELY,
            f"{text}, although {amount_text(debt.reported_cost)} cr were reported.",
        )
    return MatchConfidence.CERTAIN, f"{text}; nothing else matches."


def count_owed_to_other_teams(entry: LedgerEntry) -> int:
    """Count the charges of other teams on the upstream account that the credit may refund
    instead."""
    charges = Charge.objects.of_upstream_account(entry.account_id)
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True, cost=entry.amount)
    return owed.exclude(account_id=entry.account_id).count()


def match_unidentified_refunds(
    ledger: LedgerMirror, matched_ids: Collection[int]
) -> list[RefundMatch]:
    """Match refunds that no charge expects to paid clips whose id was lost and which cannot be
    polled."""
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
    open_credits = unmatched_credits(ledger, debts).exclude(pk__in=matched_ids)
    matches: list[RefundMatch] = []
    for entry in open_credits.filter(
        happened_at__range=(min(times), max(times) + MAX_REFUND_DELAY)
    ):
        fitting = [debt for debt in debts if may_refund_unidentified(entry, debt)]
        if not fitting or may_refund_another_clip(entry, fitting[0]):
            continue
        if mark_charge_refunded(fitting[0].charge, entry):
            matches.append(
                (
                    entry,
                    fitting[0].charge,
                    MatchConfidence.LIKELY,
                    unidentified_refund_reason(entry, fitting),
                )
            )
        debts.remove(fitting[0])
    return matches


def may_refund_unidentified(entry: LedgerEntry, debt: ExpectedRefund) -> bool:
    """Whether it is a credit of exactly the cost, soon after the debit, marked as a refund and of
    no other content type."""
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
    """Whether another clip may have failed: one of ours not read as completed, or any outside
    one."""
    since, account = entry.happened_at - MAX_REFUND_DELAY, entry.account_id
    has_same_amount = Q(cost=entry.amount) | Q(entries__amount=-entry.amount)
    other_clips = (
        Charge.objects.of_upstream_account(account)
        .filter(
            Q(state__in=UNDECIDED_STATES) | (Q(state__in=CHARGED_STATES) & has_same_amount),
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
    return other_clips.exists() or outside.exists()


def unidentified_refund_reason(entry: LedgerEntry, fitting: Sequence[ExpectedRefund]) -> str:
    text = (
        f"Refunds its {amount_text(entry.amount)} cr according to its label; the failure itself "
        "was not seen"
    )
    if len(fitting) == 1:
        return f"{text}, and nothing else matches."
    return f"{text}; one of {len(fitting)} equal ones, matched in order."


def match_undocumented_refunds(
    ledger: LedgerMirror, matched_ids: Collection[int]
) -> list[RefundMatch]:
    """Match credits that say that they give back to the one charge that they fit, if the service
    documents no refund of it."""
    rows = LedgerEntry.objects.without_charge().filter(
        account_id=ledger.pk, trouble="", amount__gt=0
    )
    since = timezone.now() - REFUND_SEARCH_PERIOD
    open_credits = [
        entry
        for entry in rows.filter(happened_at__gte=since)
        .exclude(pk__in=matched_ids)
        .order_by("position")
        if mentions_refund(entry)
    ]
    if not open_credits:
        return []
    charged = unrefunded_charges(ledger).filter(
        state__in=CHARGED_STATES, cost__gt=0, sent_at__gte=since - MAX_REFUND_DELAY
    )
    debts = build_expected_refunds(
        charged.exclude(operation__in=REFUNDABLE_OPERATIONS)
        .select_related("job")
        .order_by("sent_at")
    )
    matches: list[RefundMatch] = []
    for entry in open_credits:
        fitting = [debt for debt in debts if may_give_back(entry, debt)]
        whole = [debt for debt in fitting if entry.amount == debt.booked_cost]
        failed = [debt for debt in whole if has_failed(debt.charge)]
        chosen = next((found[0] for found in (failed, whole, fitting) if len(found) == 1), None)
        if chosen is None:
            continue  # nobody can tell which: it stays listed as a credit without a charge
        debts.remove(chosen)
        matches.append((entry, chosen.charge, *rate_undocumented_refund(entry, chosen)))
        if chosen in whole:
            mark_charge_refunded(chosen.charge, entry)
    return matches


def may_give_back(entry: LedgerEntry, debt: ExpectedRefund) -> bool:
    """Whether it is at most the cost, after the debit, and within a day of the charge's end."""
    charge = debt.charge
    ended_at = charge.settled_at or charge.sent_at
    if charge.job is not None and charge.job.finished_at is not None and ended_at is not None:
        ended_at = max(ended_at, charge.job.finished_at)
    if ended_at is None or (debt.debit is not None and entry.position < debt.debit.position):
        return False
    sent_at = charge.sent_at or ended_at
    times = sent_at - MATCH_CLOCK_SKEW, ended_at + MAX_REFUND_DELAY
    return entry.amount <= debt.booked_cost and times[0] <= entry.happened_at <= times[1]


def has_failed(charge: Charge) -> bool:
    return charge.job is not None and charge.job.state == JobState.FAILED


def rate_undocumented_refund(
    entry: LedgerEntry, debt: ExpectedRefund
) -> tuple[MatchConfidence, str]:
    amount, cost = amount_text(entry.amount), amount_text(debt.booked_cost)
    if entry.amount != debt.booked_cost:
        return (
            MatchConfidence.WEAK,
            f"Gives {amount} of its {cost} cr back, by its label; no other charge fits.",
        )
    if has_failed(debt.charge):
        return MatchConfidence.LIKELY, f"Refunds its {cost} cr after it failed; nothing else fits."
    return (
        MatchConfidence.WEAK,
        f"Refunds its {cost} cr, by its label, although no failure was seen.",
    )
