"""One account's reconciliation: sums of its entries, its opening balance, and the difference.

balance_exact = opening balance + entries + difference entries = refunds + other credits - debits
matched to charges - debits of imported jobs - debits outside the portal
"""

from __future__ import annotations

from decimal import Decimal

from django.db.models import Case, DecimalField, F, Q, QuerySet, When

from proxyapi.ledger import coverage_gaps
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Account, Charge, DailyTotal, LedgerEntry, LedgerMirror
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.rollups.daily_totals import CreditSum

ZERO_CREDITS = Decimal(0)
RENEWAL_WORDS = "renew|monthly|yearly|annual|subscription|prorat|plan|allowance|cycle"


def sum_entries_by_kind(account: Account) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """Signed sums of all debits, explained debits, all credits, and matched credits."""
    debit, credit = Q(is_credit=False), Q(is_credit=True)
    conditions = (debit, debit & Q(is_matched=True), credit, credit & Q(is_matched=True))
    rows = DailyTotal.objects.filter(account=account)
    sums = rows.aggregate(
        **{
            f"sum_{index}": conditional_credit_sum("amount", condition)
            for index, condition in enumerate(conditions)
        }
    )
    debits, matched_debits, credits, matched_credits = (
        sums[f"sum_{index}"] or ZERO_CREDITS for index in range(4)
    )
    return debits, matched_debits, credits, matched_credits


def conditional_credit_sum(field: str, condition: Q) -> CreditSum:
    """The sum of a field over the rows that match the condition."""
    return CreditSum(
        Case(When(condition, then=F(field)), output_field=DecimalField(**CREDIT_FIELD_OPTIONS))
    )


def compute_opening_balance(ledger: LedgerMirror, entries_sum: Decimal) -> Decimal | None:
    """The anchor's balance without the rows before it. `entries_sum` is the sum of all rows up to
    the checkpoint. None before the first checkpoint."""
    if ledger.anchor_balance is None or ledger.checkpoint_sum is None:
        return None
    return ledger.anchor_balance - (entries_sum - ledger.checkpoint_sum)


def balance_difference(ledger: LedgerMirror) -> Decimal:
    """The balance's change since the anchor minus the sum of the rows, in credits."""
    if (
        ledger.balance_exact is None
        or ledger.anchor_balance is None
        or ledger.checkpoint_sum is None
    ):
        return ZERO_CREDITS
    return ledger.balance_exact - ledger.anchor_balance - ledger.checkpoint_sum


def find_renewal_of_gap(ledger: LedgerMirror) -> LedgerEntry | None:
    """The newest credit since the anchor that renews or changes the plan, if what was left before
    it, and expired without an entry when the balance was set, is enough for what is missing."""
    gap = balance_difference(ledger)
    if gap >= 0 or ledger.anchor_balance is None:
        return None
    rows = LedgerEntry.objects.filter(
        account_id=ledger.pk,
        position__gte=ledger.anchor_high or 0,
        position__lt=ledger.checkpoint_high or 0,
    )
    words = Q(label__iregex=RENEWAL_WORDS) | Q(content_type__iregex=RENEWAL_WORDS)
    renewal = rows.filter(words, amount__gt=0).order_by("-position").first()
    if renewal is None:
        return None
    before = rows.filter(position__lt=renewal.position).aggregate(sum=CreditSum("amount"))["sum"]
    left = ledger.anchor_balance + (before or ZERO_CREDITS)
    return renewal if -gap <= left else None


def charges_awaiting_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit may still be booked, as of the last read of the ledger."""
    without_debit = Charge.objects.without_debit().filter(account_id=ledger.pk)
    return (
        without_debit
        if ledger.read_at is None
        else without_debit.filter(settled_at__gte=ledger.read_at - MATCH_BOOKING_DELAY)
    )


def charges_missing_debit(ledger: LedgerMirror) -> QuerySet[Charge]:
    """Charges whose debit is overdue; not those that wait for an entry to be attributed."""
    without_debit = Charge.objects.without_debit().filter(account_id=ledger.pk)
    if ledger.read_at is None:
        return without_debit.none()
    overdue = without_debit.filter(settled_at__lt=ledger.read_at - MATCH_BOOKING_DELAY)
    return overdue.exclude(coverage_gaps.unattributed_debit_exists(ledger))
