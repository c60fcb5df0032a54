"""Pages of the view source=api that show the seconds which they add whole.

Rows of one second may be shown in another order at each reading (`row_order`). A page that cuts a
second with different rows then says neither which of them are of the API nor which the next page
shows. Such a second is aligned from a page that shows all of it; of a second with more rows than
any page shows, the order is taken as it is shown.
"""

from __future__ import annotations

from proxyapi.ledger.api_attribution import api_entries
from proxyapi.ledger.page_reader import (
    API_SOURCE,
    LEDGER_PAGE_SIZE,
    LedgerReader,
    PageAddress,
    UpstreamLedgerPage,
    page_at,
    page_from,
    page_until,
)
from proxyapi.ledger.row_order import count_leading, fetch_instead
from proxyapi.ledger.row_parser import UpstreamLedgerRow, entry_raw_values
from proxyapi.models import LedgerEntry, LedgerMirror


def fetch_newer_view_page(
    source: LedgerReader, ledger: LedgerMirror, page: PageAddress
) -> UpstreamLedgerPage:
    """This page, or the one that shows the second after the aligned rows whole, if this one cuts
    it."""
    first = source.fetch_page(page, API_SOURCE)
    return fetch_instead(source, first, wider_newer_page(ledger, first), API_SOURCE)


def fetch_older_view_page(
    source: LedgerReader, ledger: LedgerMirror, previous: UpstreamLedgerPage | None
) -> UpstreamLedgerPage:
    """The page of the row before the aligned ones, or the one that shows its second whole. The
    previous page is not requested again."""
    wider = page_until(ledger.api_low)
    if previous is not None and previous.start < ledger.api_low:
        return source.fetch_page(wider, API_SOURCE)
    page = source.fetch_page_at(ledger.api_low - 1, API_SOURCE)
    is_cut = start_of_whole_seconds(ledger, page, ledger.api_low) == ledger.api_low
    return fetch_instead(source, page, wider if is_cut else None, API_SOURCE)


def fetch_last_second(
    source: LedgerReader, ledger: LedgerMirror, page: UpstreamLedgerPage
) -> UpstreamLedgerPage:
    """The view's last page, or one that shows more of its last second, if that is all it shows."""
    is_last = page.start < page.end == page.total
    shows_none_whole = is_last and start_of_whole_seconds(ledger, page, page.end) == page.end
    wider = page_until(page.total) if shows_none_whole else None
    return fetch_instead(source, page, wider, API_SOURCE)


def next_newer_page(ledger: LedgerMirror, page: UpstreamLedgerPage) -> PageAddress:
    """The page that follows the aligned rows; another one than `page`, which was read."""
    is_read = page.start <= ledger.api_high < page.end
    return (page_from if is_read else page_at)(ledger.api_high)


def wider_newer_page(ledger: LedgerMirror, page: UpstreamLedgerPage) -> PageAddress | None:
    """The page to read instead of this one, which shows no further second whole. None if this one
    does, or no page shows more."""
    known = ledger.api_high
    if not page.start <= known < page.end:
        return None
    first = begin_of_next_second(ledger, page)
    wider = page_from(first)
    if first < page.start:
        return wider if wider.end > known else None
    return wider if end_of_whole_seconds(ledger, page) == known else None


def end_of_whole_seconds(ledger: LedgerMirror, page: UpstreamLedgerPage) -> int:
    """The view's position up to which the page can be aligned: the begin of a second that the
    page's end cuts, unless no page shows more of it."""
    if not page.start <= ledger.api_high < page.end < page.total:
        return page.end
    rows = page.rows[ledger.api_high - page.start :][::-1]
    count = count_leading(rows, rows[0].raw_values[-1])
    if not is_cut(ledger, page.rows[::-1]):
        return page.end
    begin = page.end - count
    is_shown_best = page_from(begin_of_next_second(ledger, page)).end <= page.end
    return page.end if begin == ledger.api_high and is_shown_best else begin


def start_of_whole_seconds(ledger: LedgerMirror, page: UpstreamLedgerPage, known: int) -> int:
    """The same for the rows before the position `known`: the end of a second that the page's begin
    cuts."""
    if page.start == 0 or not page.start < known <= page.end:
        return page.start
    rows = page.rows[: known - page.start]
    if not is_cut(ledger, page.rows):
        return page.start
    end = page.start + count_leading(rows, rows[0].raw_values[-1])
    return page.start if end == known and page_until(known).start >= page.start else end


def begin_of_alignable_rows(ledger: LedgerMirror, page: UpstreamLedgerPage, known: int) -> int:
    """The view's position from which the page can be aligned with mirrored rows, down from the
    position `known`."""
    whole = start_of_whole_seconds(ledger, page, known)
    return max(whole, begin_of_mirrored_seconds(ledger, page))


def begin_of_mirrored_seconds(ledger: LedgerMirror, page: UpstreamLedgerPage) -> int:
    """The view's position after the rows of the mirror's oldest second, of which older rows may not
    be mirrored yet: an equal one would be taken for the mirrored one."""
    oldest = LedgerEntry.objects.filter(account_id=ledger.pk, position=ledger.low).first()
    if ledger.low == 0 or oldest is None:
        return page.start
    second = entry_raw_values(oldest)[-1]
    last = [at for at in range(page.start, page.end) if page.second_at(at) == second][-1:]
    return last[0] + 1 if last else page.start


def is_cut(ledger: LedgerMirror, rows: tuple[UpstreamLedgerRow, ...]) -> bool:
    """Whether the mirror has other and more rows of the second at the edge, with which `rows`
    begin, than the page shows."""
    moment, shown = rows[0].happened_at, count_leading(rows, rows[0].raw_values[-1])
    if moment is None:
        return False
    mirrored = LedgerEntry.objects.filter(account_id=ledger.pk, happened_at=moment)
    few = mirrored.order_by("position")[: LEDGER_PAGE_SIZE + 1]  # no page shows more
    values = [entry_raw_values(entry) for entry in few]
    return len(values) > shown and len(set(values)) > 1


def begin_of_next_second(ledger: LedgerMirror, page: UpstreamLedgerPage) -> int:
    """The view's position where the second of the first row that is not aligned begins."""
    known = ledger.api_high
    if ledger.api_low == known:  # the query would scan the whole ledger
        return known
    newest = api_entries(ledger).order_by("-position").first()
    if newest is None or entry_raw_values(newest)[-1] != page.second_at(known):
        return known
    return known - api_entries(ledger).filter(happened_at=newest.happened_at).count()


def may_show_another_row(page: UpstreamLedgerPage, position: int, entry: LedgerEntry) -> bool:
    """Whether the page cuts the second of this row, so that another row of it may stand there."""
    second = page.second_at(position)
    if entry_raw_values(entry)[-1] != second:
        return False
    is_first = page.start > 0 and page.second_at(page.start) == second
    return is_first or (page.end < page.total and page.second_at(page.end - 1) == second)
