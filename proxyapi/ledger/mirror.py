"""The mirror: an account's ledger as rows of ours, the newest first, each at its position (rule 4).

First contact asks one page for the number of rows, reads the last page and then fills up downward;
later the page of the last known row is read again, compared, and read on from there. Pages are
asked for in ascending order only, so rows that arrive meanwhile shift nothing.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from proxyapi.ledger import api_view_sync, backfill, mirror_range
from proxyapi.ledger.entry_changes import rebuild_days_once
from proxyapi.ledger.matching import match_entries
from proxyapi.ledger.page_reader import LedgerReader, open_ledger_reader
from proxyapi.ledger.recheck_old_pages import recheck_due_page
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
    """Read what can be read now. True: the end was reached, and nothing older is missing.

    Without `newest` it goes on with older rows, because the end was read just before: a turn may
    have one request. With `awaited` somebody waits for a row at the end: it goes as a settlement.

    Raises `RateLimitExhausted` or `UpstreamError`; what was read before is kept. Without a token
    that opens the account, or while a rewritten row waits for a person, nothing is read.
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
    """The newest rows are attributed and matched before the older ones are read."""
    account = source.account
    first = read_newest_rows(source, awaited) if newest else source
    with suppress(errors.UpstreamError):
        api_view_sync.sync_api_view(first, most=0)
    match_entries(account)
    backfill.backfill_older_rows(source, mirror_range.get_or_create_ledger(account))
    api_view_sync.sync_api_view(source)
    recheck_due_page(source)


def read_newest_rows(source: LedgerReader, awaited: bool) -> LedgerReader:
    """Read the ledger's end; answers the reader for which of its rows the API's view shows.

    More rows than two pages hold are not ours alone: the rest of them comes as older rows do.
    """
    if awaited:
        first = replace(source, lane=Priority.SETTLEMENT)
        ledger = backfill.catch_up_to_end(first, most=1)
        if ledger.high == ledger.total:
            return first
    backfill.catch_up_to_end(source)
    return source
