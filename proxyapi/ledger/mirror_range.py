"""The mirrored range of a ledger: pages extend it at both ends, and are compared within it.

Each page is one short transaction under the account's lock, so reading can stop anywhere and
resume, and several workers may apply the same pages. A stored row is never overwritten, except one
that could not be read. If it reads differently, or is missing, three times some seconds apart, the
mirror stops (rule 4); one such page alone is an unreadable answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from proxyapi.ledger import conflicts, entry_changes
from proxyapi.ledger.page_reader import HISTORY_OPERATION, UpstreamLedgerPage
from proxyapi.ledger.row_order import (
    mirrored_range,
    mirrored_rows_of,
    order_ties_as_known,
    page_with_newest_second,
    page_with_oldest_second,
)
from proxyapi.ledger.row_parser import (
    ROW_FIELD_NAMES,
    UNREADABLE_AMOUNT,
    UNREADABLE_TIME,
    UpstreamLedgerRow,
    entry_raw_values,
)
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.models.charge import MAX_CLOCK_SKEW
from proxyapi.operations import get_operation
from proxyapi.upstream import errors

CONTRADICTIONS_TO_BELIEVE = 3  # readings in a row
DOUBT_INTERVAL = timedelta(seconds=4)  # at least, between two readings that count


def get_or_create_ledger(account: Account) -> LedgerMirror:
    """A new ledger has no sums yet, so it starts with the team's current time zone."""
    zone = {"rollup_time_zone": lambda: account.tenant.zone.key}
    ledger, _ = LedgerMirror.objects.get_or_create(account=account, defaults=zone)
    ledger.account = account
    return ledger


def apply_page(account: Account, page: UpstreamLedgerPage) -> LedgerMirror:
    """Compare the page with the mirror and add its new rows; return the updated ledger.

    Raises `errors.ResponseLost` for a page that contradicts known rows and is to be read again.
    """
    with transaction.atomic():
        entry_changes.lock_account(account)
        ledger = get_or_create_ledger(account)
        is_doubted = not ledger.problem and not extend_by_page(ledger, page)
    if is_doubted:
        raise errors.ResponseLost(get_operation(HISTORY_OPERATION))
    return ledger


def extend_by_page(ledger: LedgerMirror, page: UpstreamLedgerPage) -> bool:
    """False if the page is doubted; a conflict is recorded if it was doubted before."""
    account, page = ledger.account, order_ties_as_known(ledger, page)
    missing = range(page.total, min(page.known_total, ledger.high))
    differing = correct_unreadable_rows(ledger, find_differing_rows(ledger, page))
    if missing or differing:
        if not is_contradiction_confirmed(ledger, page.start):
            return False
        conflicts.record_conflicts(ledger, missing, differing)
        return True
    if ledger.doubts and page.start <= ledger.doubted_position < page.end:
        ledger.doubts = 0
        ledger.save(update_fields=["doubts"])
    new_entries = extend_mirror(ledger, page)
    ledger.total = max(page.total, ledger.high)
    if ledger.high >= page.total and (ledger.read_at is None or ledger.read_at < page.requested_at):
        ledger.read_at = page.requested_at
    if ledger.low == 0 and ledger.rechecked_at is None:
        ledger.rechecked_at = page.requested_at  # every row has just been read
    ledger.save(update_fields=["low", "high", "total", "read_at", "rechecked_at"])
    if new_entries:
        entry_changes.record_entry_changes(account, [entry.happened_at for entry in new_entries])
        request_balance_refresh(account, new_entries)
    return True


def is_contradiction_confirmed(ledger: LedgerMirror, position: int) -> bool:
    """Count this reading; readings of the same moment count once."""
    now = timezone.now()
    if not ledger.doubts or ledger.doubted_at is None or ledger.doubted_at < now - DOUBT_INTERVAL:
        ledger.doubts, ledger.doubted_at = ledger.doubts + 1, now
    is_confirmed = ledger.doubts >= CONTRADICTIONS_TO_BELIEVE
    ledger.doubts, ledger.doubted_position = 0 if is_confirmed else ledger.doubts, position
    ledger.save(update_fields=["doubts", "doubted_at", "doubted_position"])
    return is_confirmed


def correct_unreadable_rows(
    ledger: LedgerMirror, differing: list[tuple[LedgerEntry, UpstreamLedgerRow]]
) -> list[tuple[LedgerEntry, UpstreamLedgerRow]]:
    """Replace rows whose amount or time could not be read, and now can; return the other ones."""
    others = []
    for entry, row in differing:
        is_time_alone = UNREADABLE_TIME in entry.trouble and entry.amount == row.amount
        if row.trouble or not (UNREADABLE_AMOUNT in entry.trouble or is_time_alone):
            others.append((entry, row))
            continue
        start, end = ledger.anchor_high, ledger.checkpoint_high
        if ledger.checkpoint_sum is not None and (start or 0) <= entry.position < (end or 0):
            ledger.checkpoint_sum += row.amount - entry.amount
            ledger.save(update_fields=["checkpoint_sum"])
        conflicts.replace_row(ledger, entry, row)
    return others


def request_balance_refresh(account: Account, new_entries: Sequence[LedgerEntry]) -> None:
    """Refresh the balance at once after credits were added, because they can be spent."""
    credit_times = [entry.happened_at for entry in new_entries if entry.amount > 0]
    if credit_times:
        Account.objects.filter(
            pk=account.pk, balance_as_of__lt=max(credit_times) + MAX_CLOCK_SKEW
        ).update(refreshed_at=None)


def find_differing_rows(
    ledger: LedgerMirror, page: UpstreamLedgerPage
) -> list[tuple[LedgerEntry, UpstreamLedgerRow]]:
    """The mirrored rows whose values differ on the page."""
    mirrored = mirrored_rows_of(ledger, page)
    pairs = [(entry, page.rows[entry.position - page.start]) for entry in mirrored]
    return [(entry, row) for entry, row in pairs if entry_raw_values(entry) != row.raw_values]


def extend_mirror(ledger: LedgerMirror, page: UpstreamLedgerPage) -> list[LedgerEntry]:
    """Add the page's rows to the ends of the mirror that it touches; return the new entries. None
    at an end where another page has to show which rows of its second are new."""
    if not page.rows:
        return []
    if ledger.low == ledger.high:
        ledger.low = ledger.high = page.start
    new: list[LedgerEntry] = []
    known = mirrored_range(ledger)
    if page.start < ledger.low <= page.end and not page_with_oldest_second(known, page):
        new += build_entries(ledger, page, page.start, ledger.low)
        ledger.low = page.start
    if page.start <= ledger.high < page.end and not page_with_newest_second(known, page):
        new += build_entries(ledger, page, ledger.high, page.end)
        ledger.high = page.end
    return LedgerEntry.objects.bulk_create(new)


def build_entries(
    ledger: LedgerMirror, page: UpstreamLedgerPage, low: int, high: int
) -> list[LedgerEntry]:
    rows = page.rows[low - page.start : high - page.start]
    times = fill_row_times(
        rows, page.requested_at if low == 0 else neighbour_time(ledger, low) or page.requested_at
    )
    return [
        LedgerEntry(
            account_id=ledger.pk,
            position=low + number,
            amount=row.amount,
            happened_at=when,
            trouble=row.trouble,
            **dict(zip(ROW_FIELD_NAMES, row.raw_values, strict=True)),
        )
        for number, (row, when) in enumerate(zip(rows, times, strict=True))
    ]


def fill_row_times(rows: Sequence[UpstreamLedgerRow], fallback: datetime) -> list[datetime]:
    """A time for each row: its own, otherwise that of the previous row, otherwise the first known
    one."""
    last = next((row.happened_at for row in rows if row.happened_at), fallback)
    times = []
    for row in rows:
        last = row.happened_at or last
        times.append(last)
    return times


def neighbour_time(ledger: LedgerMirror, position: int) -> datetime | None:
    """The time of a mirrored row next to the position."""
    neighbours = LedgerEntry.objects.filter(
        account_id=ledger.pk, position__in=(position - 1, position)
    )
    return neighbours.order_by("position").values_list("happened_at", flat=True).first()
