"""The balance after each row of a page, as the mirror knows it, however long the ledger is.

It is known at one place, where the account was weighed last (`Ledger.balance_exact`). From there
the sums of whole days lead back to the day of the page's newest row, that day's later rows to the
row itself, and the rows of the page to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, cast

from django.db.models import Q, QuerySet, Value

from dashboard.ledger.queries.scope import LedgerScope
from dashboard.shared.ledger_balance import ledger_end_balance
from proxyapi.models import Account, DailyTotal, LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import CreditSum, day_bounds

ZERO_CREDITS = Decimal(0)
NEWER, LATER = "newer", "later"


def load_running_balances(scope: LedgerScope, rows: Sequence[LedgerEntry]) -> dict[int, Decimal]:
    """By the rows' keys. `rows` are next to each other, the newest first. One query, or none where
    the ledger's last row is among them.

    Nothing where the rows are of several accounts, where others were left out between them, and
    where the account was not weighed yet.
    """
    account = account_with_exact_balance(scope)
    if account is None or not rows:
        return {}
    left = balance_from_ledger_end(account, rows)
    if left is None:
        left = load_balance_after_row(scope, account.ledger, rows[0])
    balances = {}
    for row in rows:
        balances[row.pk] = left
        left -= row.amount
    return balances


def account_with_exact_balance(scope: LedgerScope) -> Account | None:
    """The account that all rows are of, where its balance is known, in the days of these sums."""
    if len(scope.ids) != 1 or scope.filters.excludes_rows:
        return None
    account = next(one for one in scope.accounts if one.pk == scope.ids[0])
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if ledger is None or ledger.balance_exact is None or ledger.checkpoint_high is None:
        return None
    return account if ledger.rollup_time_zone == scope.zone.key else None


def balance_from_ledger_end(account: Account, rows: Sequence[LedgerEntry]) -> Decimal | None:
    """The balance after the first row, where the last one that the account knew of is listed."""
    above = ZERO_CREDITS
    for row in rows:
        if row.position == account.ledger.high - 1:
            return ledger_end_balance(account) + above
        above += row.amount
    return None


def load_balance_after_row(scope: LedgerScope, ledger: LedgerMirror, row: LedgerEntry) -> Decimal:
    """The balance after a row. All in one statement: what comes meanwhile counts on both sides."""
    day = row.happened_at.astimezone(scope.zone).date()
    end = day_bounds(day, scope.zone)[1]
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    later = entries.filter(rows_after_q(row), happened_at__gte=row.happened_at, happened_at__lt=end)
    days = DailyTotal.objects.filter(account_id=ledger.pk, day__gt=day)
    newer = entries.filter(position__gte=ledger.checkpoint_high)
    parts = sum_credits_with_key(newer, NEWER).union(
        sum_credits_with_key(later, LATER), sum_credits_with_key(days, LATER), all=True
    )
    left = ledger.balance_exact or ZERO_CREDITS
    for key, amount in parts:
        left += (amount if key == NEWER else -amount) if amount else ZERO_CREDITS
    return left


def rows_after_q(row: LedgerEntry) -> Q:
    return Q(happened_at__gt=row.happened_at) | Q(position__gt=row.position)


def sum_credits_with_key(rows: QuerySet[Any], key: str) -> QuerySet[Any]:
    split = rows.order_by().annotate(key=Value(key)).values_list("key")
    return cast("QuerySet[Any]", split.annotate(sum=CreditSum("amount")))
