"""Extend the mirror up to the ledger's end and down to its beginning, page by page."""

from __future__ import annotations

from datetime import datetime

from proxyapi.ledger import mirror_range
from proxyapi.ledger.page_reader import LedgerReader
from proxyapi.ledger.row_order import fetch_newer_page, fetch_older_page, mirrored_range
from proxyapi.models import LedgerEntry, LedgerMirror


def catch_up_to_end(source: LedgerReader, most: int | None = None) -> LedgerMirror:
    """Read up to the ledger's end, from the page of the last known row; for a ledger that was never
    read, its last page.

    Each request makes progress, even if the next one has to wait for the next sync. After the first
    page at most `most` pages are read.
    """
    ledger = mirror_range.get_or_create_ledger(source.account)
    if ledger.problem:
        return ledger
    page = fetch_newer_page(source, mirrored_range(ledger), next_read_position(ledger))
    if ledger.high == 0 and page.end < page.total:
        LedgerMirror.objects.filter(pk=ledger.pk, high=0).update(total=page.total)
        page = source.fetch_page_at(page.total - 1)
    ledger, page_count = mirror_range.apply_page(source.account, page), 0
    while ledger.high < page.total and not ledger.problem and page_count != most:
        before, page_count = ledger.high, page_count + 1
        page = fetch_newer_page(source, mirrored_range(ledger), ledger.high)
        ledger = mirror_range.apply_page(source.account, page)
        if ledger.high == before:
            break  # the announced rows are missing; the next sync requests them again
    return ledger


def next_read_position(ledger: LedgerMirror) -> int:
    """The position to read next: after the last known row if more rows are known to follow,
    otherwise the last known row, which is compared again; in an empty mirror the reported end."""
    if ledger.high == 0:
        return max(ledger.total, 1) - 1
    return ledger.high if ledger.total > ledger.high else ledger.high - 1


def backfill_older_rows(
    source: LedgerReader,
    ledger: LedgerMirror,
    since: datetime | None = None,
    most: int | None = None,
) -> LedgerMirror:
    """Read downward until no older row is missing, or none from `since` on, or `most` pages were
    read."""
    page_count = 0
    while ledger.low > 0 and not ledger.problem and page_count != most:
        if since is not None and is_mirrored_since(ledger, since):
            break
        before, page_count = ledger.low, page_count + 1
        page = fetch_older_page(source, mirrored_range(ledger), ledger.low - 1)
        ledger = mirror_range.apply_page(source.account, page)
        if ledger.low == before:
            break
    return ledger


def is_mirrored_since(ledger: LedgerMirror, since: datetime) -> bool:
    """Whether the mirror holds every row from `since` on, which an older row proves."""
    older = LedgerEntry.objects.filter(account_id=ledger.pk, trouble="", happened_at__lt=since)
    return (ledger.low == 0 and ledger.read_at is not None) or older.exists()
