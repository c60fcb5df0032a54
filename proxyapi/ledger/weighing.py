"""Weighing: the balance at a known position of the ledger, `balance_exact`.

`Account.balance` is a snapshot with a time. The exact one is read between two looks at the ledger's
end that agree: no row came meanwhile, so it is the balance after exactly these rows. The first one
is the anchor. From there on the balance may change by what the rows say, and by nothing else.
"""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.ledger import changes, growth, segment
from proxyapi.ledger.differences import of_balance
from proxyapi.ledger.page import reader
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import StaleData, format_credits
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.upstream import wire

REQUESTS = 3
AGREES = "Balance and entries agree by now. Nothing was changed."
MOVED = "The difference is {gap} cr by now, not {seen} cr. Nothing was changed; look again."


def weigh(account: Account, lane: Priority = Priority.LEDGER_SYNC, patience: float = 8) -> bool:
    """Weigh the account; False when it cannot be read, or rows came meanwhile.

    `REQUESTS` requests. Raises `AllowanceExhausted` or `UpstreamError`.
    """
    source = reader(account, lane, patience)
    if source is None or not at_end(before := growth.catch_up(source)):
        return False
    asked_at = timezone.now()
    reply = calls.call_upstream(source.token, "me.get", lane, patience=patience)
    credits = wire.mapping(wire.mapping(reply.data).get("credits"))
    # What `total` and `extra` have to do with it is not shown (pitfall 52).
    remaining = wire.amount(credits.get("remaining"))
    after = growth.catch_up(source)
    if remaining is None or not at_end(after) or after.high != before.high:
        return False
    account.update_balance(remaining, asked_at)
    return note(account, remaining, after.high)


def at_end(ledger: LedgerMirror) -> bool:
    return not ledger.problem and ledger.read_at is not None and ledger.high == ledger.total


@transaction.atomic
def note(account: Account, balance: Decimal, high: int) -> bool:
    changes.lock(account)
    ledger = segment.of(account)
    if ledger.high < high or ledger.problem:
        return False
    now = timezone.now()
    if ledger.anchor_balance is None or ledger.anchor_high is None:
        ledger.anchor_balance, ledger.anchor_high, ledger.anchor_at = balance, high, now
        ledger.weighed_high = None
    ledger.weighed_sum = since_anchor(ledger, high)
    ledger.balance_exact, ledger.weighed_high, ledger.weighed_at = balance, high, now
    ledger.save()
    publish_event(account.vault_id, EventType.LEDGER, account.pk)
    publish_event(account.vault_id, EventType.ACCOUNT, account.pk)
    return True


def since_anchor(ledger: LedgerMirror, high: int) -> Decimal:
    """What the rows from the anchor on add up to; only those after the last weighing are read."""
    if ledger.weighed_high is None or ledger.weighed_sum is None or ledger.weighed_high > high:
        return total(ledger, ledger.anchor_high or 0, high)
    return ledger.weighed_sum + total(ledger, ledger.weighed_high, high)


def total(ledger: LedgerMirror, low: int, high: int) -> Decimal:
    """What the rows of these positions add up to."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=low, position__lt=high)
    return rows.aggregate(sum=CreditSum("amount"))["sum"] or Decimal(0)


@transaction.atomic
def anchor_again(account: Account, seen: Decimal) -> LedgerMirror:
    """Take the balance as it was weighed last as the new start, and let the difference go.

    The opening balance follows from it: opening + entries = balance. What moves after that
    weighing shows as a new difference. Raises `Stale` when the difference is not the one that
    somebody has `seen` and decided about, or is gone.
    """
    changes.lock(account)
    ledger = segment.of(account)
    if not (gap := of_balance(ledger)):
        raise StaleData(AGREES)
    if gap != seen:
        raise StaleData(MOVED.format(gap=format_credits(gap), seen=format_credits(seen)))
    ledger.anchor_balance, ledger.anchor_high = ledger.balance_exact, ledger.weighed_high
    ledger.anchor_at, ledger.weighed_sum = ledger.weighed_at, Decimal(0)
    ledger.save()
    publish_event(account.vault_id, EventType.LEDGER, account.pk)
    return ledger
