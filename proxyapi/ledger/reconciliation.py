"""What one account's books say: sums of its entries, its opening balance, and what is missing.

balance_exact = opening balance + entries + difference
entries = refunds + other credits - debits matched to charges - debits outside the portal
"""

from __future__ import annotations

from decimal import Decimal

from django.db.models import Case, DecimalField, F, Q, QuerySet, When

from proxyapi.ledger import coverage_gaps
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Account, Charge, DailyTotal, LedgerMirror
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum

ZERO_CREDITS = Decimal(0)


def sum_entries_by_kind(account: Account) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """All debits, the matched ones, all credits, the matched ones; signed."""
    debit, credit = Q(is_credit=False), Q(is_credit=True)
    wanted = (debit, debit & Q(is_matched=True), credit, credit & Q(is_matched=True))
    rows = DailyTotal.objects.filter(account=account)
    found = rows.aggregate(
        **{f"sum_{at}": conditional_credit_sum("amount", which) for at, which in enumerate(wanted)}
    )
    a, b, c, d = (found[f"sum_{at}"] or ZERO_CREDITS for at in range(4))
    return a, b, c, d


def conditional_credit_sum(field: str, which: Q) -> CreditSum:
    """The sum of a field over some of the rows."""
    return CreditSum(
        Case(When(which, then=F(field)), output_field=DecimalField(**CREDIT_FIELD_OPTIONS))
    )


def compute_opening_balance(ledger: LedgerMirror, entries_sum: Decimal) -> Decimal | None:
    """The anchor's balance without the rows before it. `entries_sum` is that of all rows up to the
    checkpoint; None before the first one."""
    if ledger.anchor_balance is None or ledger.checkpoint_sum is None:
        return None
    return ledger.anchor_balance - (entries_sum - ledger.checkpoint_sum)


def balance_difference(ledger: LedgerMirror) -> Decimal:
    """What the balance moved by beyond what the rows say, since the anchor."""
    if (
        ledger.balance_exact is None
        or ledger.anchor_balance is None
        or ledger.checkpoint_sum is None
    ):
        return ZERO_CREDITS
    return ledger.balance_exact - ledger.anchor_balance - ledger.checkpoint_sum


def charges_awaiting_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit may still be booked, by the ledger as it was last read."""
    bare = Charge.objects.without_debit().filter(account_id=ledger.pk)
    return (
        bare
        if ledger.read_at is None
        else bare.filter(settled_at__gte=ledger.read_at - MATCH_BOOKING_DELAY)
    )


def charges_missing_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit is overdue; not those that wait for an entry to be attributed."""
    bare = Charge.objects.without_debit().filter(account_id=ledger.pk)
    if ledger.read_at is None:
        return bare.none()
    late = bare.filter(settled_at__lt=ledger.read_at - MATCH_BOOKING_DELAY)
    return late.exclude(coverage_gaps.unattributed_debit_exists(ledger))
