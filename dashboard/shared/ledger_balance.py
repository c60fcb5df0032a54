"""The balance at the end of an account's mirrored ledger, which its rows and day sums lead back
from.

It is known where the account was weighed last (`Ledger.balance_exact`), and rows come meanwhile:
what they add up to comes with the account, in one statement with its ledger.
"""

from __future__ import annotations

from decimal import Decimal

from django.db.models import BigIntegerField, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Cast, Round

from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import UNITS_PER_CREDIT


def annotate_newer_entries(accounts: QuerySet[Account]) -> QuerySet[Account]:
    """Each with its ledger, and with what the rows since its last weighing add up to (`newer`, in
    ten-thousandths: an exact number on SQLite too)."""
    newer = LedgerEntry.objects.filter(
        account=OuterRef("pk"), position__gte=OuterRef("ledger__checkpoint_high")
    )
    whole = Cast(Round(F("amount") * UNITS_PER_CREDIT), BigIntegerField())
    sums = newer.order_by().values("account").annotate(sum=Sum(whole)).values("sum")
    return accounts.select_related("ledger").annotate(newer=Subquery(sums))


def ledger_end_balance(account: Account) -> Decimal:
    """Credits after the last mirrored row of an account of `annotate_newer_entries`; as last seen,
    where the account was not weighed yet."""
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if ledger is None or ledger.balance_exact is None:
        return account.balance
    return ledger.balance_exact + Decimal(getattr(account, "newer", None) or 0) / UNITS_PER_CREDIT
