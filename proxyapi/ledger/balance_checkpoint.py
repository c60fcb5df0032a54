"""The balance checkpoint: the balance at a known position of the ledger, `balance_exact`.

`Account.balance` is a snapshot with a time. The exact balance is read between two reads of the
ledger's end that agree: no row was added meanwhile, so it is the balance after exactly these rows.
The first checkpoint is the anchor. From there on the balance may change only by the sum of the
rows.
"""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from proxyapi import calls
from proxyapi.events import EventType, publish_event
from proxyapi.ledger import backfill, entry_changes, mirror_range
from proxyapi.ledger.page_reader import open_ledger_reader
from proxyapi.ledger.reconciliation import balance_difference
from proxyapi.models import Account, BalanceRebase, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from proxyapi.refusals import StaleData, format_credits
from proxyapi.rollups.daily_totals import CreditSum
from proxyapi.upstream import response_parsing

CHECKPOINT_REQUESTS = 3
BALANCE_AGREES = "Balance and entries match now. Nothing was changed."
DIFFERENCE_CHANGED = (
    "The difference is now {gap} cr, not {seen} cr. Nothing was changed. Check again."
)


def take_checkpoint(
    account: Account, lane: Priority = Priority.LEDGER_SYNC, patience: float = 8
) -> bool:
    """Take a checkpoint of the account; return False if it cannot be read, or rows were added
    meanwhile.

    Sends `CHECKPOINT_REQUESTS` requests. Raises `RateLimitExhausted` or `UpstreamError`.
    """
    source = open_ledger_reader(account, lane, patience)
    if source is None or not is_at_ledger_end(before := backfill.catch_up_to_end(source)):
        return False
    requested_at = timezone.now()
    reply = calls.call_upstream(source.token, "me.get", lane, patience=patience)
    credits = response_parsing.as_mapping(response_parsing.as_mapping(reply.data).get("credits"))
    # How `total` and `extra` relate to `remaining` is not documented (pitfall 52): it is learned.
    balance = account.spendable_credits(credits)
    after = backfill.catch_up_to_end(source)
    if balance is None or not is_at_ledger_end(after) or after.high != before.high:
        return False
    account.extra_credits = response_parsing.parse_credit_amount(credits.get("extra")) or Decimal(0)
    account.save(update_fields=["extra_credits"])
    account.update_balance(balance, requested_at)
    return store_checkpoint(account, balance, after.high)


def is_at_ledger_end(ledger: LedgerMirror) -> bool:
    return not ledger.problem and ledger.read_at is not None and ledger.high == ledger.total


@transaction.atomic
def store_checkpoint(account: Account, balance: Decimal, high: int) -> bool:
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    if ledger.high < high or ledger.problem:
        return False
    now = timezone.now()
    if ledger.anchor_balance is None or ledger.anchor_high is None:
        ledger.anchor_balance, ledger.anchor_high, ledger.anchor_at = balance, high, now
        ledger.anchor_extra, ledger.checkpoint_high = account.extra_credits, None
    ledger.checkpoint_sum = sum_since_anchor(ledger, high)
    ledger.balance_exact, ledger.checkpoint_high, ledger.checkpoint_at = balance, high, now
    learn_extra_credits(account, ledger)
    ledger.save()
    publish_event(account.tenant_id, EventType.LEDGER, account.pk)
    publish_event(account.tenant_id, EventType.ACCOUNT, account.pk)
    return True


def learn_extra_credits(account: Account, ledger: LedgerMirror) -> None:
    """Change how `credits.extra` counts if only then the balance and the rows agree: as it moved
    since the anchor, or, before the first row, so that the opening balance is not below 0."""
    if ledger.anchor_extra is None or ledger.anchor_balance is None:
        return
    sign = -1 if account.spends_extra else 1
    gap = balance_difference(ledger)
    moved = account.extra_credits - ledger.anchor_extra
    is_shown = bool(gap) and gap + sign * moved == 0
    # One purse below 0 is an answer that nothing confirms, and proves nothing about the other.
    is_credible = ledger.anchor_balance >= 0 and ledger.anchor_extra > 0
    if not gap and sign > 0 and is_credible and ledger.is_complete:
        opening = ledger.anchor_balance - sum_positions(ledger, 0, ledger.anchor_high or 0)
        is_shown = opening < 0 <= opening + ledger.anchor_extra
    if not is_shown:
        return
    rows = Account.objects.same_upstream_account(account.pk)
    rows.update(has_separate_extra=sign > 0, balance=F("balance") + sign * account.extra_credits)
    account.refresh_from_db(fields=["has_separate_extra", "balance"])
    ledger.anchor_balance += sign * ledger.anchor_extra
    ledger.balance_exact = (ledger.balance_exact or Decimal(0)) + sign * account.extra_credits


def sum_since_anchor(ledger: LedgerMirror, high: int) -> Decimal:
    """The sum of the rows from the anchor on; only those after the last checkpoint are read."""
    if (
        ledger.checkpoint_high is None
        or ledger.checkpoint_sum is None
        or ledger.checkpoint_high > high
    ):
        return sum_positions(ledger, ledger.anchor_high or 0, high)
    return ledger.checkpoint_sum + sum_positions(ledger, ledger.checkpoint_high, high)


def sum_positions(ledger: LedgerMirror, low: int, high: int) -> Decimal:
    """The sum of the rows from position `low` to before `high`."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=low, position__lt=high)
    return rows.aggregate(sum=CreditSum("amount"))["sum"] or Decimal(0)


@transaction.atomic
def rebase_balance(account: Account, seen: Decimal, member_id: int, reason: str) -> LedgerMirror:
    """Accept the difference: the last checkpoint becomes the anchor, and a `BalanceRebase` records
    the difference, the member and the reason.

    The opening balance follows from it: opening + entries = balance. Later changes appear as a new
    difference. Raises `StaleData` if the difference is not the one that was `seen`, or is gone.
    """
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    if not (gap := balance_difference(ledger)):
        raise StaleData(BALANCE_AGREES)
    if gap != seen:
        raise StaleData(
            DIFFERENCE_CHANGED.format(gap=format_credits(gap), seen=format_credits(seen))
        )
    ledger.anchor_balance, ledger.anchor_high = ledger.balance_exact, ledger.checkpoint_high
    ledger.anchor_at, ledger.checkpoint_sum = ledger.checkpoint_at, Decimal(0)
    ledger.anchor_extra = account.extra_credits
    ledger.save()
    BalanceRebase.objects.create(
        account=account, member_id=member_id, difference=gap, reason=reason
    )
    publish_event(account.tenant_id, EventType.LEDGER, account.pk)
    return ledger
