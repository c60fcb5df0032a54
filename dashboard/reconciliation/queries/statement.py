"""The two sums of an account: balance = opening + entries, and entries = charges + outside.

Two queries. tests/dashboard/reconciliation/test_statement.py holds them against sums of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import DecimalField, F, OuterRef, QuerySet, Subquery, Sum

from proxyapi.ledger.reconciliation import (
    balance_difference,
    compute_opening_balance,
    sum_entries_by_kind,
)
from proxyapi.models import Account, Charge, LedgerEntry, LedgerMirror
from proxyapi.models.account import CREDIT_FIELD_OPTIONS, quantize_credits
from proxyapi.models.charge import UNDECIDED_STATES


@dataclass(frozen=True, slots=True)
class BalanceStatement:
    """Credits, positive but for `opening`, `difference` and `unexplained`, which are signed.

    `newer`: what came in less what went out since the balance was read.
    """

    opening: Decimal | None
    received: Decimal
    refunded: Decimal
    spent: Decimal
    newer: Decimal
    reported_balance: Decimal | None
    as_of: datetime | None
    difference: Decimal
    matched: Decimal
    outside: Decimal
    charged: Decimal
    unexplained: Decimal
    at_risk: Decimal

    @property
    def computed_balance(self) -> Decimal | None:
        """What the ledger says the balance was when it was read."""
        if self.opening is None:
            return None
        return self.opening + self.received + self.refunded - self.spent - self.newer


def load_balance_statement(account: Account, ledger: LedgerMirror) -> BalanceStatement:
    debits, matched, credits, refunded = sum_entries_by_kind(account)
    charged, at_risk, newer = load_charge_sums(account, -matched)
    return BalanceStatement(
        opening=compute_opening_balance(ledger, debits + credits - newer),
        received=credits - refunded,
        refunded=refunded,
        spent=-debits,
        newer=newer,
        reported_balance=ledger.balance_exact,
        as_of=ledger.checkpoint_at,
        difference=balance_difference(ledger),
        matched=-matched,
        outside=matched - debits,
        charged=charged,
        unexplained=charged + matched,
        at_risk=at_risk,
    )


def load_charge_sums(account: Account, matched: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """What charges took, what hangs on those without an answer, and the rows after the weighing.

    Charges took what their debits say, but for those that have none, and by what others are off.
    """
    charges = Charge.objects.filter(account=OuterRef("pk"))
    bare = Charge.objects.without_debit().filter(account=OuterRef("pk"))
    rows = LedgerEntry.objects.filter(account=OuterRef("pk"))
    parts = (
        (bare, "cost"),
        (rows.filter(off__isnull=False), "off"),
        (charges.filter(state__in=UNDECIDED_STATES), "hold"),
        (rows.filter(position__gte=OuterRef("ledger__checkpoint_high")), "amount"),
    )
    summed = [sum_by_account(*part) for part in parts]
    found = Account.objects.filter(pk=account.pk).values_list(*summed).get()
    alone, off, at_risk, newer = map(quantize_credits, found)
    return matched + alone + off, at_risk, newer


def sum_by_account(rows: QuerySet[Charge] | QuerySet[LedgerEntry], field: str) -> Subquery:
    summed = rows.order_by().values("account").annotate(sum=Sum(F(field))).values("sum")
    return Subquery(summed, output_field=DecimalField(**CREDIT_FIELD_OPTIONS))
