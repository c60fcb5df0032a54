"""How the mirror grows: up to the ledger's end, down to its beginning, a page at a time."""

from __future__ import annotations

from datetime import datetime

from proxyapi.ledger import mirror_range
from proxyapi.ledger.page_reader import LedgerReader
from proxyapi.models import LedgerEntry, LedgerMirror


def catch_up_to_end(source: LedgerReader, most: int | None = None) -> LedgerMirror:
    """Read on to the ledger's end, from the page of the last known row; of a ledger that was never
    read, its last page.

    Each request brings it forward, even if the next one has to wait for another turn. Of what
    follows on its first page at most so many are read.
    """
    ledger = mirror_range.get_or_create_ledger(source.account)
    if ledger.problem:
        return ledger
    page = source.fetch_page_at(next_read_position(ledger))
    if ledger.high == 0 and page.end < page.total:
        LedgerMirror.objects.filter(pk=ledger.pk, high=0).update(total=page.total)
        page = source.fetch_page_at(page.total - 1)
    ledger, asked = mirror_range.apply_page(source.account, page), 0
    while ledger.high < page.total and not ledger.problem and asked != most:
        page, before, asked = source.fetch_page_at(ledger.high), ledger.high, asked + 1
        ledger = mirror_range.apply_page(source.account, page)
        if ledger.high == before:
            break  # nothing came where something was announced; the next round asks again
    return ledger


def next_read_position(ledger: LedgerMirror) -> int:
    """Where to read: at the end that was told; the last known row's page, when there may be none.

    A row that is known is compared then. While it is known that more follow, they are read first.
    """
    if ledger.high == 0:
        return max(ledger.total, 1) - 1
    return ledger.high if ledger.total > ledger.high else ledger.high - 1


def backfill_older_rows(
    source: LedgerReader,
    ledger: LedgerMirror,
    since: datetime | None = None,
    most: int | None = None,
) -> LedgerMirror:
    """Read downward until nothing older is missing, or nothing since then, or so many pages."""
    asked = 0
    while ledger.low > 0 and not ledger.problem and asked != most:
        if since is not None and is_mirrored_since(ledger, since):
            break
        page, before, asked = source.fetch_page_at(ledger.low - 1), ledger.low, asked + 1
        ledger = mirror_range.apply_page(source.account, page)
        if ledger.low == before:
            break
    return ledger


def is_mirrored_since(ledger: LedgerMirror, since: datetime) -> bool:
    """Whether the mirror holds every row since then: some row of it is older."""
    older = LedgerEntry.objects.filter(account_id=ledger.pk, trouble="", happened_at__lt=since)
    return (ledger.low == 0 and ledger.read_at is not None) or older.exists()
