"""An account's books added up from the entries and charges themselves, to hold the portal's sums,
pages and matches against."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from django.db.models import Q, QuerySet, Sum

from proxyapi.ledger.reconciliation import balance_difference, charges_missing_debit
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES


class BookDifference(NamedTuple):
    """Something that does not add up; credits where it is an amount."""

    kind: str
    amount: Decimal | None
    charge: Charge | None = None


@dataclass(frozen=True)
class Reconciliation:
    """Credits are positive where they are spent (`charged`, `matched`, `outside`), else signed."""

    opening_balance: Decimal | None
    entries_sum: Decimal
    newer_entries_sum: Decimal  # of the rows after the checkpoint
    balance_exact: Decimal | None
    difference: Decimal
    charged: Decimal
    matched: Decimal
    imported: Decimal
    outside: Decimal
    refunded: Decimal
    credited: Decimal
    unexplained: Decimal
    refunds_owed: list[Charge]
    at_risk: Decimal
    differences: list[BookDifference]


def build_reconciliation(account: Account) -> Reconciliation:
    ledger = LedgerMirror.objects.filter(pk=account.pk).first() or LedgerMirror(account=account)
    entries = LedgerEntry.objects.filter(account=account)
    debits, credits = entries.filter(amount__lt=0), entries.filter(amount__gt=0)
    matched = -total(debits.filter(charge__isnull=False))
    imported = -total(debits.filter(charge__isnull=True, job__isnull=False))
    refunded = total(credits.filter(charge__isnull=False))
    charges = Charge.objects.filter(account=account)
    charged = total(charges.filter(state__in=CHARGED_STATES), "cost")
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True)
    return Reconciliation(
        opening_balance=opening_balance(ledger, entries),
        entries_sum=total(entries),
        newer_entries_sum=total(entries.filter(position__gte=ledger.checkpoint_high or 2**31 - 1)),
        balance_exact=ledger.balance_exact,
        difference=balance_difference(ledger),
        charged=charged,
        matched=matched,
        imported=imported,
        outside=-total(debits) - matched - imported,
        refunded=refunded,
        credited=total(credits) - refunded,
        unexplained=charged - matched,
        refunds_owed=list(owed.order_by("refund_owed_at")),
        at_risk=total(charges.filter(state__in=UNDECIDED_STATES), "hold"),
        differences=list(find_book_differences(ledger)),
    )


def opening_balance(ledger: LedgerMirror, entries: QuerySet[LedgerEntry]) -> Decimal | None:
    """The anchor's balance without the rows before it."""
    if ledger.anchor_balance is None or ledger.checkpoint_sum is None:
        return None
    return ledger.anchor_balance - total(entries.filter(position__lt=ledger.anchor_high))


def find_book_differences(ledger: LedgerMirror) -> Iterator[BookDifference]:
    charges = Charge.objects.filter(account_id=ledger.pk)
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    if ledger.problem:
        yield BookDifference("mirror stopped", None)
    if gap := balance_difference(ledger):
        yield BookDifference("balance", gap)
    if ledger.api_problem:
        yield BookDifference("view of the API", None)
    for charge in charges_missing_debit(ledger):
        yield BookDifference("no entry", charge.cost, charge)
    for entry in entries.filter(cost_difference__isnull=False):
        yield BookDifference("other cost", -(entry.cost_difference or Decimal(0)), entry.charge)
    for charge in charges.filter(state=ChargeState.UNKNOWN):
        yield BookDifference("unknown outcome", charge.hold, charge)
    for charge in charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True):
        yield BookDifference("refund owed", charge.cost, charge)
    for entry in entries.filter(~Q(trouble="")):
        yield BookDifference(f"row {entry.number} unreadable", None)


def total(rows: QuerySet[LedgerEntry] | QuerySet[Charge], field: str = "amount") -> Decimal:
    """The exact sum; SQLite keeps decimals as floats."""
    found = rows.aggregate(sum=Sum(field))["sum"] or 0
    return Decimal(found).quantize(Decimal("0.0001"))
