"""What follows when entries are added or changed: their sums are rebuilt, and open pages get an
event."""

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
    """Lock the upstream account, always before its jobs, charges and entries."""
    Account.objects.lock_upstream_account(account.pk)


def record_entry_changes(account: Account, moments: Iterable[datetime]) -> None:
    """Record that entries of these times were added or changed, in the caller's transaction.

    The sums of their days are rebuilt in it, or at the end of `rebuild_days_once`.
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
    """Rebuild the sums of changed days once, at the end, also if reading fails.

    Changes within it mark their days in their transactions; if the worker dies, the next sync
    rebuilds the marked days.
    """
    outer = _is_deferred.set(True)
    try:
        yield
    finally:
        _is_deferred.reset(outer)
        rebuild_stale_days(account)
