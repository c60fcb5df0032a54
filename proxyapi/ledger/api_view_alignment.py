"""Align the view source=api with the mirrored rows, one page in each short transaction.

The view holds some of the ledger's rows, in the same order and without ids. Each is matched to the
next mirrored row with the same values: downward from a position below which both have the same
rows, upward from the last match. A mirrored row that is skipped is not of the API (pitfall 65).
Equal rows may be swapped, which changes nothing.

The view may lag. A row newer than all rows of the view counts as not of the API only if the view is
read `CHARGE_BOOKING_GRACE_S` after its booking (the upstream's time against ours). If the view
contains it later, the row is corrected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from proxyapi.ledger import entry_changes, matching_rules, mirror_range
from proxyapi.ledger.api_attribution import (
    api_entries,
    attributed_entries,
    reset_attribution,
    unattributed_entries,
)
from proxyapi.ledger.api_view_pages import (
    begin_of_alignable_rows,
    end_of_whole_seconds,
    may_show_another_row,
)
from proxyapi.ledger.page_reader import UpstreamLedgerPage
from proxyapi.ledger.row_order import order_ties_as_mirrored
from proxyapi.ledger.row_parser import UpstreamLedgerRow, entry_raw_values
from proxyapi.models import Account, LedgerEntry, LedgerMirror

IsBeyondRow = Callable[[datetime, datetime], bool]
# Rows are out of time order by less than this; the search for a missing row ends there.
MAX_TIME_DISORDER = timedelta(days=1)
API_VIEW_FIELDS = ("api_low", "api_high", "api_read_at", "api_problem", "api_problem_at")
ATTRIBUTION_BATCH_SIZE = 2000  # rows in one statement or transaction
API_VIEW_MISMATCH = (
    "The service's API-only list contains an entry that is missing from its full ledger. "
    "From there on we cannot tell which entries were made through the API."
)
OLDER_API_VIEW_MISMATCH = (
    "The service's API-only list contains an entry that is missing from its full ledger. "
    "For older entries we cannot tell whether they were made through the API."
)
API_VIEW_UNAVAILABLE = (
    "The service does not provide its list of API spend. We do not know which entries were made "
    "through the API."
)


@transaction.atomic
def start_alignment(
    account: Account, page: UpstreamLedgerPage, *, still: bool = False
) -> LedgerMirror:
    """Align the first rows, downward from a position below which both views have the same rows.

    That is the first row of the mirror's newest second: no older row can be added any more. If a
    whole page is of one second, the position is the end of both, provided that neither grew
    (`still`).
    """
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    page = order_ties_as_mirrored(ledger, page)
    border, rows = (
        (page.mirrored_total, page.rows) if still else rows_before_newest_second(ledger, page)
    )
    if is_alignment_started(ledger) or border <= ledger.low or (not rows and page.start):
        return ledger
    end = page.start + len(rows)
    begin = begin_of_alignable_rows(ledger, page, end)
    if rows and begin >= end:
        return ledger
    rows = rows[begin - page.start :]
    unattributed = unattributed_entries(ledger).filter(position__lt=border)
    newest_first = unattributed.order_by("-position").iterator(chunk_size=500)
    matched, skipped = pair_rows_with_entries(rows[::-1], newest_first, is_far_before)
    if rows and not matched and not is_older_than_mirror(ledger, rows):
        return ledger
    ledger.api_high = end
    ledger.api_low = ledger.api_high - len(matched)
    changed_times = set_via_api(matched, True)
    if matched:
        changed_times += set_via_api(
            [entry for entry in skipped if entry.position < matched[0].position], False
        )
    else:
        changed_times += mark_batch_not_api(entries_past_lag(unattributed, page))
    ledger.save(update_fields=["api_low", "api_high"])
    entry_changes.record_entry_changes(account, changed_times)
    return ledger


def rows_before_newest_second(
    ledger: LedgerMirror, page: UpstreamLedgerPage
) -> tuple[int, tuple[UpstreamLedgerRow, ...]]:
    """The position where the mirror's newest second begins, and the page's rows before it."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    newest = rows.filter(position__lt=page.mirrored_total).order_by("-position").first()
    if newest is None:
        return 0, ()
    second = newest.happened_at
    border = rows.filter(happened_at__gte=second).aggregate(at=Min("position"))["at"]
    older = takewhile(lambda row: row.happened_at and row.happened_at < second, page.rows)
    return border, tuple(older)


@transaction.atomic
def remember_api_view_end(account: Account, page: UpstreamLedgerPage) -> None:
    """Store the view's length, in case the request for its last page has to wait."""
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    if not is_alignment_started(ledger):
        ledger.api_low = ledger.api_high = page.total
        ledger.save(update_fields=["api_low", "api_high"])


@transaction.atomic
def restart_alignment(account: Account) -> LedgerMirror:
    """Retry what could not be aligned. Everything is reset only if the newest rows did not align,
    because a large ledger takes hours."""
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    if ledger.api_problem:
        if ledger.api_problem == API_VIEW_MISMATCH or not is_alignment_started(ledger):
            reset_attribution(ledger)
        ledger.api_problem = ""
        ledger.save(update_fields=["api_low", "api_high", "api_problem"])
    return ledger


@transaction.atomic
def align_page(account: Account, page: UpstreamLedgerPage) -> tuple[LedgerMirror, int]:
    """Align a page of the view with the mirror; return the ledger with its new position, and the
    position up to which the page could be aligned."""
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    if not is_alignment_started(ledger):
        return ledger, page.end
    page, end = order_ties_as_mirrored(ledger, page), page.end
    if is_last_row_unchanged(ledger, page):
        changed_times = align_older_rows(ledger, page)
        end = end_of_whole_seconds(ledger, page)
        changed_times += align_newer_rows(ledger, page, end)
        entry_changes.record_entry_changes(
            account, changed_times + attribute_beyond_api_view(ledger, page)
        )
        if ledger.api_high == page.total:
            ledger.api_read_at = page.requested_at
            if ledger.api_problem != OLDER_API_VIEW_MISMATCH or ledger.api_low == 0:
                ledger.api_problem = ""
            if ledger.api_low == 0:
                ledger.api_problem_at = None
        elif ledger.api_high == end:
            ledger.api_read_at = None  # the next page is known to be there
    else:
        reset_attribution(ledger)
    ledger.save(update_fields=API_VIEW_FIELDS)
    return ledger, end


def is_alignment_started(ledger: LedgerMirror) -> bool:
    return attributed_entries(ledger).exists()


def is_last_row_unchanged(ledger: LedgerMirror, page: UpstreamLedgerPage) -> bool:
    """Whether the newest aligned row still has the same values."""
    if page.total < min(page.known_total, ledger.api_high):
        return False
    last = ledger.api_high - 1
    if not page.start <= last < page.end:
        return True
    entry = api_entries(ledger).order_by("-position").first()
    return (
        entry is None
        or entry_raw_values(entry) == page.rows[last - page.start].raw_values
        or may_show_another_row(page, last, entry)
    )


def is_older_than_mirror(ledger: LedgerMirror, rows: Sequence[UpstreamLedgerRow]) -> bool:
    """Whether all of the view's rows are clearly older than the mirror."""
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    newest, oldest = rows[-1].happened_at, entries.aggregate(at=Min("happened_at"))["at"]
    return (
        newest is not None
        and oldest is not None
        and newest < oldest - matching_rules.MATCH_BOOKING_DELAY
    )


def align_newer_rows(ledger: LedgerMirror, page: UpstreamLedgerPage, end: int) -> list[datetime]:
    if not page.start <= ledger.api_high < page.end:
        return []
    rows = page.rows[ledger.api_high - page.start : end - page.start]
    if not rows:
        return []
    # Rows that appeared in the view too late are corrected here.
    may_be_corrected = Q(happened_at__gte=rows[0].happened_at or page.requested_at)
    candidates = entries_newer_than_api_view(ledger).filter(
        Q(via_api__isnull=True) | may_be_corrected
    )
    matched, skipped = pair_rows_with_entries(
        rows, candidates.order_by("position").iterator(chunk_size=500), is_far_after
    )
    ledger.api_high += len(matched)
    return set_via_api(matched, True) + set_via_api(skipped, False)


def align_older_rows(ledger: LedgerMirror, page: UpstreamLedgerPage) -> list[datetime]:
    if not page.start < ledger.api_low <= page.end:
        return []
    begin = begin_of_alignable_rows(ledger, page, ledger.api_low)
    rows = page.rows[begin - page.start : ledger.api_low - page.start][::-1]
    lowest = lowest_attributed_position(ledger)
    unattributed = unattributed_entries(ledger).filter(
        position__lt=ledger.high if lowest is None else lowest
    )
    matched, skipped = pair_rows_with_entries(
        rows, unattributed.order_by("-position").iterator(chunk_size=500), is_far_before
    )
    ledger.api_low -= len(matched)
    return set_via_api(matched, True) + set_via_api(skipped, False)


def entries_newer_than_api_view(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    """Rows after the newest aligned one; without one, from the first attributed row on."""
    newest = newest_api_position(ledger)
    if newest is None:
        newest = (first_position_by(attributed_entries(ledger), "position") or 0) - 1
    return LedgerEntry.objects.filter(account_id=ledger.pk, position__gt=newest)


def lowest_attributed_position(ledger: LedgerMirror) -> int | None:
    """None without attributed rows. Derived from the rows below it, which have an index."""
    newest = newest_api_position(ledger)
    if (
        newest is None
        and (newest := first_position_by(attributed_entries(ledger), "-position")) is None
    ):
        return None
    highest = first_position_by(
        unattributed_entries(ledger).filter(position__lt=newest), "-position"
    )
    return ledger.low if highest is None else highest + 1


def newest_api_position(ledger: LedgerMirror) -> int | None:
    """None, without a query, if no row is aligned: the query would scan the whole ledger."""
    return (
        None
        if ledger.api_low == ledger.api_high
        else first_position_by(api_entries(ledger), "-position")
    )


def unattributable_filter(ledger: LedgerMirror) -> Q:
    """Rows that cannot be attributed while the view does not align."""
    if not ledger.api_problem:
        return Q(pk__in=())
    lowest = (
        lowest_attributed_position(ledger)
        if ledger.api_problem == OLDER_API_VIEW_MISMATCH
        else None
    )
    unattributed = Q(via_api__isnull=True)
    return unattributed if lowest is None else unattributed & Q(position__lt=lowest)


def first_position_by(entries: QuerySet[LedgerEntry], order: str) -> int | None:
    return entries.order_by(order).values_list("position", flat=True).first()


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


def set_via_api(entries: Iterable[LedgerEntry], via_api: bool) -> list[datetime]:
    changed = [entry for entry in entries if entry.via_api is not via_api]
    for start in range(0, len(changed), ATTRIBUTION_BATCH_SIZE):
        ids = [entry.pk for entry in changed[start : start + ATTRIBUTION_BATCH_SIZE]]
        LedgerEntry.objects.filter(pk__in=ids).update(via_api=via_api)
    return [entry.happened_at for entry in changed]


def finish_attribution(account: Account) -> None:
    """Mark older rows as not of the API once the view is aligned to its beginning. Each batch is
    one transaction, because new charges wait for its lock."""
    while finish_attribution_batch(account):
        pass


@transaction.atomic
def finish_attribution_batch(account: Account) -> bool:
    entry_changes.lock_account(account)
    ledger = mirror_range.get_or_create_ledger(account)
    changed_times = attribute_oldest_entries(ledger) if is_alignment_started(ledger) else []
    entry_changes.record_entry_changes(account, changed_times)
    return bool(changed_times)


def attribute_beyond_api_view(ledger: LedgerMirror, page: UpstreamLedgerPage) -> list[datetime]:
    """Mark rows beyond both ends of the view as not of the API."""
    changed_times: list[datetime] = []
    if ledger.api_high == page.total:
        newer = entries_newer_than_api_view(ledger).filter(
            via_api__isnull=True, position__lt=page.mirrored_total
        )
        while batch_times := mark_batch_not_api(entries_past_lag(newer, page)):
            changed_times += batch_times
    return changed_times + attribute_oldest_entries(ledger)


def entries_past_lag(
    entries: QuerySet[LedgerEntry], page: UpstreamLedgerPage
) -> QuerySet[LedgerEntry]:
    """Rows old enough that the view would contain them on this page."""
    return entries.filter(happened_at__lte=page.requested_at - api_view_lag())


def api_view_lag() -> timedelta:
    return timedelta(seconds=settings.CHARGE_BOOKING_GRACE_S)


def attribute_oldest_entries(ledger: LedgerMirror) -> list[datetime]:
    lowest = lowest_attributed_position(ledger)
    if ledger.api_low > 0 or lowest is None:
        return []
    return mark_batch_not_api(unattributed_entries(ledger).filter(position__lt=lowest))


def mark_batch_not_api(entries: QuerySet[LedgerEntry]) -> list[datetime]:
    batch = list(
        entries.order_by("-position").values_list("position", "happened_at")[
            :ATTRIBUTION_BATCH_SIZE
        ]
    )
    if batch:
        entries.filter(position__gte=batch[-1][0]).update(via_api=False)
    return [happened_at for _, happened_at in batch]


def suspend_alignment(account: Account, why: str = API_VIEW_MISMATCH) -> None:
    """Record why the view cannot be aligned; it is not read for `API_VIEW_BACKOFF`."""
    now = timezone.now()
    # `api_read_at` concerns the view's newest rows only.
    read_at = {} if why == OLDER_API_VIEW_MISMATCH else {"api_read_at": now}
    LedgerMirror.objects.filter(pk=account.pk).update(
        api_problem=why,
        api_tried_at=now,
        api_problem_at=Coalesce("api_problem_at", Value(now)),
        **read_at,
    )
