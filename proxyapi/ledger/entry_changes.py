"""What follows whenever entries come or change: sums are made anew, open pages hear of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from proxyapi.events import EventType, publish_event
from proxyapi.models import Account
from proxyapi.rollups.daily_totals import rebuild_days_at


def lock_account(account: Account) -> None:
    """One at a time for each account; always before its jobs, charges and entries."""
    Account.objects.lock_upstream_account(account.pk)


def record_entry_changes(
    account: Account, moments: Iterable[datetime], *, only_told: bool = False
) -> None:
    """Entries of these moments came or changed, in the caller's transaction.

    `only_told`: nothing of them changed but whether they are the API's.
    """
    if listed := list(moments):
        rebuild_days_at(account, listed, only_told=only_told)
        publish_event(account.tenant_id, EventType.LEDGER, account.pk)
