"""The books of one account: balance, ledger and charges held against each other.

    balance_exact - opening = entries = - matched - outside + refunded + other credits
    charged - matched = what charges took and the ledger does not show, or shows differently

Reads the database only, from the sums per day where rows would be too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Case, DecimalField, F, Q, When

from proxyapi.ledger import balance_checkpoint, differences
from proxyapi.ledger.differences import LedgerDifference
from proxyapi.models import Account, Charge, DailyTotal, LedgerMirror
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES
from proxyapi.rollups.daily_totals import CreditSum

ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """Credits are positive where they are spent (`charged`, `matched`, `outside`), else signed."""

    opening_balance: (
        Decimal | None
    )  # the balance before the oldest mirrored row; None: not weighed yet
    entries_sum: Decimal  # all mirrored rows
    newer_entries_sum: Decimal  # those of them that came after the balance was read
    balance_exact: Decimal | None
    as_of: datetime | None
    difference: Decimal  # balance_exact - opening - entries up to it
    charged: Decimal  # by charges that took credits
    matched: Decimal  # debits that have a charge
    outside: Decimal  # debits that have none
    refunded: Decimal  # credits that have a charge
    credited: Decimal  # the other credits: top-ups and grants
    unexplained: Decimal  # charged - matched
    refunds_owed: list[Charge]
    at_risk: Decimal  # held by charges whose outcome is not known
    is_complete: bool  # whether nothing older is missing
    differences: list[LedgerDifference]


def build_reconciliation(account: Account) -> Reconciliation:
    """The account's books as the database knows them now."""
    ledger = LedgerMirror.objects.filter(pk=account.pk).first() or LedgerMirror(account=account)
    debits, matched, credits, refunded = sum_entries_by_kind(account)
    entries, newer = debits + credits, sum_after_checkpoint(ledger)
    spent, at_risk = sum_charges(account)
    owed = differences.charges_owed_refund(account)
    difference = differences.balance_difference(ledger)
    return Reconciliation(
        opening_balance=compute_opening_balance(ledger, entries - newer),
        entries_sum=entries,
        newer_entries_sum=newer,
        balance_exact=ledger.balance_exact,
        as_of=ledger.checkpoint_at,
        difference=difference,
        charged=spent,
        matched=-matched,
        outside=matched - debits,
        refunded=refunded,
        credited=credits - refunded,
        unexplained=spent + matched,
        refunds_owed=owed,
        at_risk=at_risk,
        is_complete=ledger.is_complete,
        differences=differences.list_differences(ledger, difference, owed),
    )


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


def sum_charges(account: Account) -> tuple[Decimal, Decimal]:
    """What charges took, and what those of unknown outcome hold."""
    charges = Charge.objects.filter(account=account)
    spent = charges.filter(state__in=CHARGED_STATES).aggregate(sum=CreditSum("cost"))["sum"]
    at_risk = charges.filter(state__in=UNDECIDED_STATES).aggregate(sum=CreditSum("hold"))["sum"]
    return spent or ZERO_CREDITS, at_risk or ZERO_CREDITS


def sum_after_checkpoint(ledger: LedgerMirror) -> Decimal:
    if ledger.checkpoint_high is None:
        return ZERO_CREDITS
    return balance_checkpoint.sum_positions(ledger, ledger.checkpoint_high, ledger.high)


def compute_opening_balance(ledger: LedgerMirror, weighed: Decimal) -> Decimal | None:
    """The anchor's balance without the rows before it."""
    if ledger.anchor_balance is None or ledger.checkpoint_sum is None:
        return None
    return ledger.anchor_balance - (weighed - ledger.checkpoint_sum)
