"""What follows whenever entries come or change: sums are recomputed, open pages hear of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from proxyapi.events import EventType, publish_event
from proxyapi.models import Account
from proxyapi.rollups.daily_totals import mark_days_stale, rebuild_days_at, rebuild_stale_days

_is_deferred: ContextVar[bool] = ContextVar("is_deferred", default=False)


def lock_account(account: Account) -> None:
    """One at a time for each account; always before its jobs, charges and entries."""
    Account.objects.lock_upstream_account(account.pk)


def record_entry_changes(account: Account, moments: Iterable[datetime]) -> None:
    """Entries of these moments came or changed, in the caller's transaction.

    The sums of their days are recomputed in it, or at the end of `rebuild_days_once`.
    """
    listed = list(moments)
    if not listed:
        return
    if _is_deferred.get():
        mark_days_stale(account, listed)
        return
    rebuild_days_at(account, listed)
    publish_event(account.tenant_id, EventType.LEDGER, account.pk)


@contextmanager
def rebuild_days_once(account: Account) -> Iterator[None]:
    """Changes recorded within are marked in their transactions, and the sums of their days are
    recomputed at the end, also where reading failed; by the next sync if the worker dies."""
    outer = _is_deferred.set(True)
    try:
        yield
    finally:
        _is_deferred.reset(outer)
        rebuild_stale_days(account)
