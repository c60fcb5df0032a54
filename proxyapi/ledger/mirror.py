"""The mirror: an account's ledger as rows of ours, the newest read first, each at its position
(rule 4).

The first sync requests one page for the number of rows, reads the last page and then fills up
downward. Later syncs read the page of the last known row again, compare it, and continue from
there. Pages are requested in ascending order only, so new rows shift no position.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from proxyapi.ledger import api_view_sync, backfill, mirror_range
from proxyapi.ledger.entry_changes import rebuild_days_once
from proxyapi.ledger.matching import match_entries
from proxyapi.ledger.page_reader import LedgerReader, open_ledger_reader
from proxyapi.ledger.recheck_old_pages import recheck_conflicts, recheck_due_page
from proxyapi.models import Account
from proxyapi.rate_limiter import Priority
from proxyapi.upstream import errors


def mirror_entries(
    account: Account,
    lane: Priority = Priority.LEDGER_SYNC,
    patience: float = 0,
    *,
    newest: bool = True,
    awaited: bool = False,
) -> bool:
    """Read what can be read now. Return True if the mirror reaches the end and no older row is
    missing.

    Without `newest` only older rows are read, because the end was read just before and a sync may
    have a single request. With `awaited` the end is read with the priority of a settlement, because
    somebody waits for its row.

    Raises `RateLimitExhausted` or `UpstreamError`; pages read before are stored. Nothing is read
    without a token that decrypts; while a conflict is open only its page.
    """
    source = open_ledger_reader(account, lane, patience)
    if source is None:
        return False
    with rebuild_days_once(account):
        try:
            read_and_match(source, newest, awaited)
        finally:
            match_entries(account)
    ledger = mirror_range.get_or_create_ledger(account)
    return ledger.is_complete and not ledger.problem


def read_and_match(source: LedgerReader, newest: bool, awaited: bool) -> None:
    """Read the ledger; the newest rows are attributed and matched before the older ones are
    read."""
    account = source.account
    if mirror_range.get_or_create_ledger(account).problem:
        recheck_conflicts(source)
    first = read_newest_rows(source, awaited) if newest else source
    with suppress(errors.UpstreamError):
        api_view_sync.sync_api_view(first, most=0)
    match_entries(account)
    backfill.backfill_older_rows(source, mirror_range.get_or_create_ledger(account))
    api_view_sync.sync_api_view(source)
    recheck_due_page(source)


def read_newest_rows(source: LedgerReader, awaited: bool) -> LedgerReader:
    """Read the ledger's end; return the reader to use for the view `source=api`.

    More than two pages of new rows are not only ours: the remaining pages are read at sync
    priority.
    """
    if awaited:
        first = replace(source, lane=Priority.SETTLEMENT)
        ledger = backfill.catch_up_to_end(first, most=1)
        if ledger.high == ledger.total:
            return first
    backfill.catch_up_to_end(source)
    return source
