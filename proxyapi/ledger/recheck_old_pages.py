"""Compare older pages with the upstream's, one every `RECHECK_INTERVAL`, from the newest down.

The newest page is compared at every read anyway.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F, Min
from django.utils import timezone

from proxyapi.ledger import conflicts, mirror_range
from proxyapi.ledger.page_reader import LEDGER_PAGE_SIZE, LedgerReader
from proxyapi.models import LedgerConflict, LedgerMirror

RECHECK_INTERVAL = timedelta(minutes=10)


def recheck_due_page(source: LedgerReader) -> None:
    """Compare the next page, if one is due and no other worker does it."""
    ledger, now = mirror_range.get_or_create_ledger(source.account), timezone.now()
    if ledger.doubts and not ledger.problem:  # of an older page; the newest was just read
        mirror_range.apply_page(source.account, source.fetch_page_at(ledger.doubted_position))
        return
    if ledger.problem or not ledger.is_complete or ledger.high <= LEDGER_PAGE_SIZE:
        return
    if ledger.rechecked_at is None or ledger.rechecked_at > now - RECHECK_INTERVAL:
        return
    unclaimed = LedgerMirror.objects.filter(pk=ledger.pk, rechecked_at=ledger.rechecked_at)
    if not unclaimed.update(rechecked_at=now):
        return
    top = (ledger.high - 1) // LEDGER_PAGE_SIZE * LEDGER_PAGE_SIZE
    page = source.fetch_page_at((ledger.recheck_position or top) - 1)
    mirror_range.apply_page(source.account, page)
    LedgerMirror.objects.filter(pk=ledger.pk, problem="", high__gt=F("low")).update(
        recheck_position=page.start
    )


def recheck_conflicts(source: LedgerReader) -> None:
    """Read the page of the lowest open conflict again: a wrong answer heals by itself."""
    still_open = LedgerConflict.objects.filter(account=source.account, accepted_at__isnull=True)
    position = still_open.aggregate(lowest=Min("position"))["lowest"]
    if position is not None:
        conflicts.drop_healed_conflicts(source.account, source.fetch_page_at(position))


def recheck_all_pages(source: LedgerReader) -> int:
    """Compare every page until the mirror stops; return how many were compared."""
    ledger, count = mirror_range.get_or_create_ledger(source.account), 0
    while count * LEDGER_PAGE_SIZE < ledger.high and not ledger.problem:
        page = source.fetch_page_at(count * LEDGER_PAGE_SIZE)
        ledger, count = mirror_range.apply_page(source.account, page), count + 1
    return count
