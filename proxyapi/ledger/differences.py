"""What does not add up, each with its age and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import QuerySet

from proxyapi.ledger import coverage_gaps
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.models.account import amount_text

MAX_DIFFERENCES_PER_KIND = 50  # of one kind; there are never so many unless something is very wrong


@dataclass(frozen=True, slots=True)
class LedgerDifference:
    """One thing that does not add up. `amount` in credits; None where it is no amount."""

    description: str
    amount: Decimal | None
    since: datetime | None
    remedy: str
    charge: Charge | None = None
    entry: LedgerEntry | None = None


def list_differences(
    ledger: LedgerMirror, balance: Decimal, owed: list[Charge]
) -> list[LedgerDifference]:
    """All of them, the gravest first."""
    return [
        *mirror_differences(ledger, balance),
        *missing_debit_differences(ledger),
        *cost_mismatch_differences(ledger),
        *unknown_outcome_differences(ledger),
        *[build_refund_difference(charge) for charge in owed[:MAX_DIFFERENCES_PER_KIND]],
        *unreadable_row_differences(ledger),
    ]


def balance_difference(ledger: LedgerMirror) -> Decimal:
    """What the balance moved by beyond what the rows say, since the anchor."""
    if (
        ledger.balance_exact is None
        or ledger.anchor_balance is None
        or ledger.checkpoint_sum is None
    ):
        return Decimal(0)
    return ledger.balance_exact - ledger.anchor_balance - ledger.checkpoint_sum


def mirror_differences(ledger: LedgerMirror, balance: Decimal) -> Iterator[LedgerDifference]:
    if ledger.problem:
        yield LedgerDifference(
            ledger.problem,
            None,
            ledger.read_at,
            "Compare both versions. Take the service's, or ask the service why it changed.",
        )
    if balance:
        yield LedgerDifference(
            f"The balance moved by {amount_text(balance)} cr more than the ledger says.",
            balance,
            ledger.anchor_at,
            "The plan may have renewed, or extra credits may be counted apart. Ask the service, "
            "or set the opening balance anew, with a reason.",
        )
    if ledger.api_problem:
        yield LedgerDifference(
            ledger.api_problem, None, ledger.api_tried_at, "It is tried again at least every hour."
        )


def missing_debit_differences(ledger: LedgerMirror) -> Iterator[LedgerDifference]:
    """Charges that took credits, and the ledger shows none."""
    for charge in (
        charges_missing_debit(ledger)
        .select_related("job")
        .order_by("sent_at")[:MAX_DIFFERENCES_PER_KIND]
    ):
        yield LedgerDifference(
            f"{amount_text(charge.cost or Decimal(0))} cr were told for {charge.operation}, "
            "and no row of the ledger fits.",
            charge.cost,
            charge.settled_at,
            "It may be booked later. If it stays so, the service told a cost that it never took.",
            charge=charge,
        )


def charges_awaiting_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit may come yet, by the ledger as it was read last."""
    bare = Charge.objects.without_debit().filter(account_id=ledger.pk)
    return (
        bare
        if ledger.read_at is None
        else bare.filter(settled_at__gte=ledger.read_at - MATCH_BOOKING_DELAY)
    )


def charges_missing_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit should have been found; not such as wait for what is not told yet."""
    bare = Charge.objects.without_debit().filter(account_id=ledger.pk)
    if ledger.read_at is None:
        return bare.none()
    late = bare.filter(settled_at__lt=ledger.read_at - MATCH_BOOKING_DELAY)
    return late.exclude(coverage_gaps.unattributed_debit_exists(ledger))


def cost_mismatch_differences(ledger: LedgerMirror) -> Iterator[LedgerDifference]:
    """Charges whose debit is not what they cost."""
    found = LedgerEntry.objects.filter(account_id=ledger.pk, off__isnull=False)
    for entry in found.select_related("charge").order_by("position")[:MAX_DIFFERENCES_PER_KIND]:
        charge = entry.charge
        if charge is not None and charge.cost is not None and entry.off is not None:
            yield LedgerDifference(
                f"{amount_text(charge.cost)} cr were told for {charge.operation}, and "
                f"{amount_text(-entry.amount)} cr were booked.",
                -entry.off,
                entry.happened_at,
                "The ledger is what the balance follows. Ask the service about it.",
                charge=charge,
                entry=entry,
            )


def unknown_outcome_differences(ledger: LedgerMirror) -> Iterator[LedgerDifference]:
    """Charges of unknown outcome."""
    unknown = Charge.objects.filter(account_id=ledger.pk, state=ChargeState.UNKNOWN)
    for charge in unknown.order_by("sent_at")[:MAX_DIFFERENCES_PER_KIND]:
        yield LedgerDifference(
            f"Whether {charge.operation} was charged is not known yet; "
            f"{amount_text(charge.hold)} cr are held for it.",
            charge.hold,
            charge.sent_at,
            "It is settled by reading. After a quarter of an hour a person decides.",
            charge=charge,
        )


def charges_owed_refund(account: Account) -> list[Charge]:
    """Charges that the service owes back, the oldest first."""
    return list(
        Charge.objects.filter(
            tenant=account.tenant_id,
            account=account,
            refund_owed_at__isnull=False,
            refunded_at__isnull=True,
        )
        .select_related("job")
        .order_by("refund_owed_at")
    )


def build_refund_difference(charge: Charge) -> LedgerDifference:
    return LedgerDifference(
        f"{amount_text(charge.cost or Decimal(0))} cr of {charge.operation} are to be given back.",
        charge.cost,
        charge.refund_owed_at,
        "It is looked for in the ledger with every reading. Ask the service if it takes days.",
        charge=charge,
    )


def unreadable_row_differences(ledger: LedgerMirror) -> Iterator[LedgerDifference]:
    """Rows that cannot be read as they are."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, trouble__gt="")
    for entry in rows.order_by("position")[:MAX_DIFFERENCES_PER_KIND]:
        yield LedgerDifference(
            f"Row {entry.number} of the ledger, “{entry.credit_spend} {entry.label}”: "
            f"{entry.trouble}",
            None,
            entry.happened_at,
            "The service's own words are kept. Ask the service what it means.",
            entry=entry,
        )
