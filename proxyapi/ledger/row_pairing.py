"""Pair rows of the view `source=api` with the mirrored rows that have the same values, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

from proxyapi.ledger.row_parser import UpstreamLedgerRow, entry_raw_values
from proxyapi.models import LedgerEntry

IsBeyondRow = Callable[[datetime, datetime], bool]
# Rows are out of time order by less than this; the search for a missing row ends there.
MAX_TIME_DISORDER = timedelta(days=1)


def pair_rows_with_entries(
    rows: Sequence[UpstreamLedgerRow], entries: Iterator[LedgerEntry], is_past: IsBeyondRow
) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
    """Return the entries of the rows, up to the first row without one, and the skipped entries. The
    search for a row ends at an entry for which `is_past` holds."""
    matched: list[LedgerEntry] = []
    skipped: list[LedgerEntry] = []
    for row in rows:
        searched: list[LedgerEntry] = []
        match = find_next_entry(row, entries, searched, is_past)
        if match is None:
            break  # the entries searched for this row do not count as skipped
        matched.append(match)
        skipped += searched
    return matched, skipped


def find_next_entry(
    row: UpstreamLedgerRow,
    entries: Iterator[LedgerEntry],
    searched: list[LedgerEntry],
    is_past: IsBeyondRow,
) -> LedgerEntry | None:
    for entry in entries:
        if entry_raw_values(entry) == row.raw_values:
            return entry
        if row.happened_at is not None and is_past(entry.happened_at, row.happened_at):
            return None
        searched.append(entry)
    return None


def is_far_before(moment: datetime, row_time: datetime) -> bool:
    return moment < row_time - MAX_TIME_DISORDER


def is_far_after(moment: datetime, row_time: datetime) -> bool:
    return moment > row_time + MAX_TIME_DISORDER
