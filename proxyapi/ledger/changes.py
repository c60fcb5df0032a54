"""What follows whenever entries come or change: sums are made anew, open pages hear of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from proxyapi.day_sums import recount_at
from proxyapi.events import Event, publish
from proxyapi.models import Account


def lock(account: Account) -> None:
    """One at a time for each account; always before its jobs, charges and entries."""
    Account.objects.select_for_update().get(pk=account.pk)


def note(account: Account, moments: Iterable[datetime]) -> None:
    """Entries of these moments came or changed, in the caller's transaction."""
    if listed := list(moments):
        recount_at(account, listed)
        publish(account.vault_id, Event.LEDGER, account.pk)
