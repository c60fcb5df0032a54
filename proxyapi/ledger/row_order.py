"""Order of ledger rows of one second, which a service may show differently at each reading.

A service that orders by time alone says at which positions the rows of a second stand, not which
row stands at which of them. Rows are therefore compared as the rows of their second. A page that
shows a part of a second does not say which rows of it are new, so a page of another size is read,
which begins and ends elsewhere. With pages of 50 rows, one shows all of up to 22 from any position
on; of a second with more rows, the order is taken as it is shown.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, takewhile

from django.db.models import QuerySet

from proxyapi.ledger.page_reader import (
    LEDGER_PAGE_SIZE,
    LedgerReader,
    PageAddress,
    UpstreamLedgerPage,
    page_from,
    page_until,
)
from proxyapi.ledger.row_parser import RowValues, UpstreamLedgerRow, entry_raw_values
from proxyapi.models import LedgerEntry, LedgerMirror


@dataclass(frozen=True, slots=True)
class KnownRange:
    """The mirrored positions, from `low` to before `high`, and their rows."""

    low: int
    high: int
    entries: QuerySet[LedgerEntry]

    def newest_second(self) -> tuple[str, int]:
        """The upstream's time, and the position of its first known row."""
        second, count = count_rows_of_second(self.entries.order_by("-position"))
        return second, self.high - count

    def oldest_second(self) -> tuple[str, int]:
        """The upstream's time, and the position after its last known row."""
        second, count = count_rows_of_second(self.entries.order_by("position"))
        return second, self.low + count


def count_rows_of_second(entries: QuerySet[LedgerEntry]) -> tuple[str, int]:
    """The time of the first entry, and how many entries with that time follow each other; of more
    than a page, one more than a page."""
    times = list(entries.values_list("booked_at", flat=True)[: LEDGER_PAGE_SIZE + 1])
    return times[0], len(list(takewhile(times[0].__eq__, times)))


def mirrored_range(ledger: LedgerMirror) -> KnownRange:
    return KnownRange(ledger.low, ledger.high, LedgerEntry.objects.filter(account_id=ledger.pk))


def fetch_newer_page(source: LedgerReader, known: KnownRange, position: int) -> UpstreamLedgerPage:
    """The page at that position, or the one that shows the newest known second whole, if the first
    one shows only a part of it, with new rows."""
    page = source.fetch_page_at(position)
    return fetch_instead(source, page, page_with_newest_second(known, page))


def fetch_older_page(source: LedgerReader, known: KnownRange, position: int) -> UpstreamLedgerPage:
    """The same for the oldest known second."""
    page = source.fetch_page_at(position)
    return fetch_instead(source, page, page_with_oldest_second(known, page))


def fetch_instead(
    source: LedgerReader, page: UpstreamLedgerPage, wider: PageAddress | None, view: str = ""
) -> UpstreamLedgerPage:
    return page if wider is None else source.fetch_page_patiently(wider, view)


def page_with_newest_second(known: KnownRange, page: UpstreamLedgerPage) -> PageAddress | None:
    """The page to read before this one, which adds rows to the newest known second, but shows only
    a part of it. None if no page shows more of it, as of one with more rows than a page."""
    if known.low == known.high or not page.start <= known.high < page.end:
        return None
    second, first = known.newest_second()
    end = known.high + count_leading(page.rows[known.high - page.start :], second)
    if end == known.high or end - first > LEDGER_PAGE_SIZE:
        return None
    wider = page_from(first)
    is_continued = end == page.end < min(page.total, wider.end)
    return wider if is_continued or (first < page.start and known.high < wider.end) else None


def page_with_oldest_second(known: KnownRange, page: UpstreamLedgerPage) -> PageAddress | None:
    """The same for the oldest known second."""
    if known.low == known.high or not page.start < known.low <= page.end:
        return None
    second, end = known.oldest_second()
    first = known.low - count_leading(page.rows[: known.low - page.start][::-1], second)
    if first == known.low or end - first > LEDGER_PAGE_SIZE:
        return None
    wider = page_until(end)
    is_continued = first == page.start > wider.start
    return wider if is_continued or (page.end < end and wider.start < known.low) else None


def count_leading(rows: Sequence[UpstreamLedgerRow], second: str) -> int:
    return len(list(takewhile(lambda row: row.raw_values[-1] == second, rows)))


def order_ties_as_known(ledger: LedgerMirror, page: UpstreamLedgerPage) -> UpstreamLedgerPage:
    """The page with each mirrored row at its mirrored position, if the page may be showing it."""
    entries = {entry.position: entry for entry in mirrored_rows_of(ledger, page)}
    rows, start = list[UpstreamLedgerRow](), page.start
    for _, shown in groupby(page.rows, key=lambda row: row.raw_values[-1]):
        second = list(shown)
        positions = range(start, start + len(second))
        known = {at: entries[at] for at in positions if at in entries}
        if any(entry_raw_values(known[at]) != second[at - start].raw_values for at in known):
            second = order_second(ledger, page, positions, second, known)
        rows += second
        start = positions.stop
    return replace(page, rows=tuple(rows))


def order_second(
    ledger: LedgerMirror,
    page: UpstreamLedgerPage,
    positions: range,
    shown: list[UpstreamLedgerRow],
    known: dict[int, LedgerEntry],
) -> list[UpstreamLedgerRow]:
    """The rows of one second in the mirror's order. A mirrored row that stands on the next page now
    is put in place of the one that is shown instead of it."""
    left, placed = list(shown), dict[int, UpstreamLedgerRow]()
    for at, entry in known.items():
        row = next((row for row in left if row.raw_values == entry_raw_values(entry)), None)
        if row:
            left.remove(row)
            placed[at] = row
    if displaced := [known[at] for at in known if at not in placed]:
        instead = rows_shown_instead(ledger, page, positions, left)
        for entry, row in zip(displaced, instead, strict=False):
            left.remove(row)
            placed[entry.position] = row_of_entry(entry)
    return [placed[at] if at in placed else left.pop(0) for at in positions]


def rows_shown_instead(
    ledger: LedgerMirror, page: UpstreamLedgerPage, positions: range, left: list[UpstreamLedgerRow]
) -> list[UpstreamLedgerRow]:
    """Of the rows left, those that may be shown instead of a mirrored one: all if more rows of the
    second are not read yet, otherwise those that are mirrored beside the page."""
    is_first, is_last = positions.start == page.start, positions.stop == page.end
    second = page.second_at(positions.start)
    if is_last and page.end < page.total and page.end >= ledger.high:
        return left[:]
    if is_first and 0 < page.start <= ledger.low:
        return left[:]
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    before = entries.filter(position__lt=page.start).order_by("-position") if is_first else ()
    after = entries.filter(position__gte=page.end).order_by("position") if is_last else ()
    elsewhere = Counter[RowValues]()
    for neighbours in (before, after):
        beside = map(entry_raw_values, neighbours[:LEDGER_PAGE_SIZE])
        elsewhere.update(takewhile(lambda values: values[-1] == second, beside))
    found = []
    for row in left:
        if elsewhere[row.raw_values]:
            elsewhere[row.raw_values] -= 1
            found.append(row)
    return found


def row_of_entry(entry: LedgerEntry) -> UpstreamLedgerRow:
    return UpstreamLedgerRow(
        entry_raw_values(entry), entry.amount, entry.happened_at, entry.trouble
    )


def mirrored_rows_of(ledger: LedgerMirror, page: UpstreamLedgerPage) -> QuerySet[LedgerEntry]:
    low, high = max(page.start, ledger.low), min(page.end, ledger.high)
    mirrored = LedgerEntry.objects.filter(account_id=ledger.pk, position__gte=low)
    return mirrored.filter(position__lt=high).order_by("position")


def order_ties_as_mirrored(ledger: LedgerMirror, page: UpstreamLedgerPage) -> UpstreamLedgerPage:
    """A page of the view of API spend with the rows of one second in the order of the mirror. Rows
    that are not mirrored yet come last."""
    seconds = [list(rows) for _, rows in groupby(page.rows, key=lambda row: row.happened_at)]
    several = (rows for rows in seconds if len({row.raw_values for row in rows}) > 1)
    tied = [moment for rows in several if (moment := rows[0].happened_at)]
    if not tied:
        return page
    positions = defaultdict[RowValues, list[int]](list)
    entries = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at__in=tied)
    for entry in entries.order_by("-position"):
        positions[entry_raw_values(entry)].append(entry.position)

    def next_position(row: UpstreamLedgerRow) -> int:
        """Of equal rows the first has the lowest."""
        left = positions[row.raw_values]
        return left.pop() if left else sys.maxsize

    ordered = (sorted(rows, key=next_position) for rows in seconds)
    return replace(page, rows=tuple(chain.from_iterable(ordered)))
