"""The mirrored segment of a ledger: pages are laid at its ends, and over what it holds.

Each page is one short transaction under the account's lock, so reading can be cut off anywhere and
gone on with, and any number of workers may lay the same pages. A row that is there is never
written again; where it reads differently, or is gone, the mirror stops (law 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from proxyapi.ledger import changes, rewrites
from proxyapi.ledger.page import Page
from proxyapi.ledger.row import NAMES, Row, words_of
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.models.charge import MAX_CLOCK_SKEW


def of(account: Account) -> LedgerMirror:
    """The account's ledger; a new one has no sums yet, so none of another zone."""
    zone = {"sums_zone": lambda: account.vault.zone.key}
    ledger, _ = LedgerMirror.objects.get_or_create(account=account, defaults=zone)
    ledger.account = account
    return ledger


@transaction.atomic
def lay(account: Account, page: Page) -> LedgerMirror:
    """Take what the page tells; answers how far the mirror is now."""
    changes.lock(account)
    ledger = of(account)
    if ledger.problem:
        return ledger
    gone = range(page.total, min(page.known, ledger.high))
    if rewrites.found(ledger, gone, differing(ledger, page)):
        return ledger
    new = extend(ledger, page)
    ledger.total = max(page.total, ledger.high)
    if ledger.high >= page.total and (ledger.read_at is None or ledger.read_at < page.asked_at):
        ledger.read_at = page.asked_at
    if ledger.low == 0 and ledger.patrolled_at is None:
        ledger.patrolled_at = page.asked_at  # every row was read just now
    ledger.save(update_fields=["low", "high", "total", "read_at", "patrolled_at"])
    if new:
        changes.note(account, [entry.happened_at for entry in new])
        expect_credits(account, new)
    return ledger


def expect_credits(account: Account, new: Sequence[LedgerEntry]) -> None:
    """After credits came, the balance is read anew at once: they can be spent then."""
    came = [entry.happened_at for entry in new if entry.amount > 0]
    if came:
        Account.objects.filter(pk=account.pk, balance_as_of__lt=max(came) + MAX_CLOCK_SKEW).update(
            refreshed_at=None
        )


def differing(ledger: LedgerMirror, page: Page) -> list[tuple[LedgerEntry, Row]]:
    """The mirrored rows that the page words differently."""
    low, high = max(page.start, ledger.low), min(page.end, ledger.high)
    known = LedgerEntry.objects.filter(
        account_id=ledger.pk, position__gte=low, position__lt=high
    ).order_by("position")
    pairs = [(entry, page.rows[entry.position - page.start]) for entry in known]
    return [(entry, row) for entry, row in pairs if words_of(entry) != row.words]


def extend(ledger: LedgerMirror, page: Page) -> list[LedgerEntry]:
    """Lay the page's rows on the ends they touch; a page that touches none is left."""
    if not page.rows:
        return []
    if ledger.low == ledger.high:
        ledger.low = ledger.high = page.start
    new: list[LedgerEntry] = []
    if page.start < ledger.low <= page.end:
        new += entries(ledger, page, page.start, ledger.low)
        ledger.low = page.start
    if page.start <= ledger.high < page.end:
        new += entries(ledger, page, ledger.high, page.end)
        ledger.high = page.end
    return LedgerEntry.objects.bulk_create(new)


def entries(ledger: LedgerMirror, page: Page, low: int, high: int) -> list[LedgerEntry]:
    rows = page.rows[low - page.start : high - page.start]
    times = moments(rows, page.asked_at if low == 0 else neighbour(ledger, low) or page.asked_at)
    return [
        LedgerEntry(
            account_id=ledger.pk,
            position=low + number,
            amount=row.amount,
            happened_at=when,
            trouble=row.trouble,
            **dict(zip(NAMES, row.words, strict=True)),
        )
        for number, (row, when) in enumerate(zip(rows, times, strict=True))
    ]


def moments(rows: Sequence[Row], fallback: datetime) -> list[datetime]:
    """A time for each row: its own, else of the row before it, else of the first that has one."""
    last = next((row.happened_at for row in rows if row.happened_at), fallback)
    times = []
    for row in rows:
        last = row.happened_at or last
        times.append(last)
    return times


def neighbour(ledger: LedgerMirror, position: int) -> datetime | None:
    """The time of a mirrored row beside the position."""
    beside = LedgerEntry.objects.filter(account_id=ledger.pk, position__in=(position - 1, position))
    return beside.order_by("position").values_list("happened_at", flat=True).first()
