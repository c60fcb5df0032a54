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

from dashboard.queries.ledger.scope import Scope
from dashboard.queries.ledger_end import end_of
from proxyapi.models import Account, DailyTotal, LedgerEntry, LedgerMirror
from proxyapi.rollups.daily_totals import CreditSum, day_bounds

NOTHING = Decimal(0)
NEWER, LATER = "newer", "later"


def balances_of(scope: Scope, rows: Sequence[LedgerEntry]) -> dict[int, Decimal]:
    """By the rows' keys. `rows` are next to each other, the newest first. One query, or none where
    the ledger's last row is among them.

    Nothing where the rows are of several accounts, where others were left out between them, and
    where the account was not weighed yet.
    """
    account = weighed(scope)
    if account is None or not rows:
        return {}
    left = at_top(account, rows)
    if left is None:
        left = after(scope, account.ledger, rows[0])
    balances = {}
    for row in rows:
        balances[row.pk] = left
        left -= row.amount
    return balances


def weighed(scope: Scope) -> Account | None:
    """The account that all rows are of, where its balance is known, in the days of these sums."""
    if len(scope.ids) != 1 or scope.filters.picks:
        return None
    account = next(one for one in scope.accounts if one.pk == scope.ids[0])
    ledger: LedgerMirror | None = getattr(account, "ledger", None)
    if ledger is None or ledger.balance_exact is None or ledger.weighed_high is None:
        return None
    return account if ledger.sums_zone == scope.zone.key else None


def at_top(account: Account, rows: Sequence[LedgerEntry]) -> Decimal | None:
    """The balance after the first row, where the last one that the account knew of is listed."""
    above = NOTHING
    for row in rows:
        if row.position == account.ledger.high - 1:
            return end_of(account) + above
        above += row.amount
    return None


def after(scope: Scope, ledger: LedgerMirror, row: LedgerEntry) -> Decimal:
    """The balance after a row. All in one statement: what comes meanwhile counts on both sides."""
    day = row.happened_at.astimezone(scope.zone).date()
    end = day_bounds(day, scope.zone)[1]
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    later = entries.filter(behind(row), happened_at__gte=row.happened_at, happened_at__lt=end)
    days = DailyTotal.objects.filter(account_id=ledger.pk, day__gt=day)
    newer = entries.filter(position__gte=ledger.weighed_high)
    parts = summed(newer, NEWER).union(summed(later, LATER), summed(days, LATER), all=True)
    left = ledger.balance_exact or NOTHING
    for key, amount in parts:
        left += (amount if key == NEWER else -amount) if amount else NOTHING
    return left


def behind(row: LedgerEntry) -> Q:
    return Q(happened_at__gt=row.happened_at) | Q(position__gt=row.position)


def summed(rows: QuerySet[Any], key: str) -> QuerySet[Any]:
    split = rows.order_by().annotate(key=Value(key)).values_list("key")
    return cast("QuerySet[Any]", split.annotate(sum=CreditSum("amount")))
