"""The patrol: older pages are compared with the service's, one now and then, from the top down.

The newest page is compared with every reading anyway.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from proxyapi.ledger import segment
from proxyapi.ledger.page import PER_PAGE, Reader
from proxyapi.models import LedgerMirror

EVERY = timedelta(minutes=10)


def patrol(source: Reader) -> None:
    """Compare the page whose turn it is, if one is due; one worker does."""
    ledger, now = segment.of(source.account), timezone.now()
    if ledger.problem or not ledger.is_complete or ledger.high <= PER_PAGE:
        return
    if ledger.patrolled_at is None or ledger.patrolled_at > now - EVERY:
        return
    mine = LedgerMirror.objects.filter(pk=ledger.pk, patrolled_at=ledger.patrolled_at)
    if not mine.update(patrolled_at=now):
        return
    top = (ledger.high - 1) // PER_PAGE * PER_PAGE
    page = source.page_at((ledger.patrolled or top) - 1)
    segment.lay(source.account, page)
    LedgerMirror.objects.filter(pk=ledger.pk, problem="", high__gt=F("low")).update(
        patrolled=page.start
    )


def compare_all(source: Reader) -> int:
    """Compare every page; answers how many. Stops where the mirror does."""
    ledger, number = segment.of(source.account), 0
    while number * PER_PAGE < ledger.high and not ledger.problem:
        number += 1
        ledger = segment.lay(source.account, source.page(number))
    return number
