"""Laying the view source=api over the mirrored rows, a page in each short transaction.

The view's rows are the mirror's with gaps, in the same order and without ids, too. So each is laid
greedily on the next row of the same words: downward from a border under which both have the same
rows, upward from the last row that was laid. A row that is passed over is not of the API (pitfall
65). Equal rows may swap; their words and amounts are the same.

The view may lag behind its ledger. A row that is newer than all it shows is called somebody else's
only by a look `lag` after its booking (`CHARGE_BOOKED_WITHIN`, half a minute), and even then the
view is believed should it show it later. It is the service's time against ours: where its clock is
ahead, rows wait for so much longer.
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

from proxyapi.ledger import changes, pairs, segment
from proxyapi.ledger.page import Page
from proxyapi.ledger.row import Row, words_of
from proxyapi.ledger.told import forget, laid, told_of, unlaid
from proxyapi.models import Account, LedgerEntry, LedgerMirror

IsPast = Callable[[datetime, datetime], bool]
# Rows may be out of the order of their times, but not by so much; a whole ledger is not gone
# through for a row that it does not have.
APART_AT_MOST = timedelta(days=1)
LAID = ("api_low", "api_high", "api_read_at", "api_problem", "api_problem_at")
LOT = 2000  # rows that are told in one statement, or one transaction
APART = (
    "The service's view of API spend shows a row that its whole ledger does not show. "
    "Which rows are of the API is not known from there on."
)
APART_BENEATH = (
    "The service's view of API spend shows an older row that its whole ledger does not show. "
    "Which rows are of the API is not known beneath it."
)
NOT_SHOWN = (
    "The service does not show its view of API spend. Which rows are of the API is not known."
)


@transaction.atomic
def begin(account: Account, page: Page, *, still: bool = False) -> LedgerMirror:
    """Lay the first rows, downward from a place where both views have the same rows beneath them.

    That is the first row of the mirror's newest second: of older ones none can come any more. Where
    a whole page is of one second, it is the end of both, if they stood still (`still`).
    """
    changes.lock(account)
    ledger = segment.of(account)
    border, rows = (page.mirrored, page.rows) if still else older(ledger, page)
    if is_opened(ledger) or border <= ledger.low or (not rows and page.start):
        return ledger
    free = unlaid(ledger).filter(position__lt=border)
    newest_first = free.order_by("-position").iterator(chunk_size=500)
    hits, passed = place(rows[::-1], newest_first, is_before)
    if rows and not hits and not is_beneath(ledger, rows):
        return ledger
    ledger.api_high = page.start + len(rows)
    ledger.api_low = ledger.api_high - len(hits)
    told = mark(hits, True)
    if hits:
        told += mark([entry for entry in passed if entry.position < hits[0].position], False)
    else:
        told += close(overdue(free, page))
    ledger.save(update_fields=["api_low", "api_high"])
    changes.note(account, told, only_told=True)
    return ledger


def older(ledger: LedgerMirror, page: Page) -> tuple[int, tuple[Row, ...]]:
    """The mirror's rows and the page's that are older than the mirror's newest second."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    newest = rows.filter(position__lt=page.mirrored).order_by("-position").first()
    if newest is None:
        return 0, ()
    second = newest.happened_at
    border = rows.filter(happened_at__gte=second).aggregate(at=Min("position"))["at"]
    return border, tuple(takewhile(lambda row: is_older(row, second), page.rows))


def is_older(row: Row, second: datetime) -> bool:
    return row.happened_at is not None and row.happened_at < second


@transaction.atomic
def remember_end(account: Account, page: Page) -> None:
    """Where the view's newest rows are, for the request that asks for them."""
    changes.lock(account)
    ledger = segment.of(account)
    if not is_opened(ledger):
        ledger.api_low = ledger.api_high = page.total
        ledger.save(update_fields=["api_low", "api_high"])


@transaction.atomic
def start_anew(account: Account) -> LedgerMirror:
    """What did not fit is tried again, from the end where its newest rows did not; elsewhere what
    was laid stays: a large ledger takes hours to be laid anew."""
    changes.lock(account)
    ledger = segment.of(account)
    if ledger.api_problem:
        if ledger.api_problem == APART or not is_opened(ledger):
            forget(ledger)
        ledger.api_problem = ""
        ledger.save(update_fields=["api_low", "api_high", "api_problem"])
    return ledger


@transaction.atomic
def lay(account: Account, page: Page) -> LedgerMirror:
    """Lay a page of the view over the mirror; answers how far it is laid now."""
    changes.lock(account)
    ledger = segment.of(account)
    if not is_opened(ledger):
        return ledger
    if agrees(ledger, page):
        told = [*downward(ledger, page), *upward(ledger, page)]
        changes.note(account, told + closing(ledger, page), only_told=True)
        if ledger.api_high == page.total:
            ledger.api_read_at = page.asked_at
            if ledger.api_problem != APART_BENEATH or ledger.api_low == 0:
                ledger.api_problem = ""
            if ledger.api_low == 0:
                ledger.api_problem_at = None
        elif ledger.api_high == page.end:
            ledger.api_read_at = None  # the next page is known to be there
    else:
        forget(ledger)
    ledger.save(update_fields=LAID)
    return ledger


def is_opened(ledger: LedgerMirror) -> bool:
    """Whether anything is known of the view; it may show no row at all."""
    return told_of(ledger).exists()


def agrees(ledger: LedgerMirror, page: Page) -> bool:
    """Whether the last row that was laid still reads the same."""
    if page.total < min(page.known, ledger.api_high):
        return False
    last = ledger.api_high - 1
    if not page.start <= last < page.end:
        return True
    entry = laid(ledger).order_by("-position").first()
    return entry is None or words_of(entry) == page.rows[last - page.start].words


def is_beneath(ledger: LedgerMirror, rows: Sequence[Row]) -> bool:
    """Whether even the newest of the view's rows is clearly older than all that is mirrored."""
    entries = LedgerEntry.objects.filter(account_id=ledger.pk)
    newest, oldest = rows[-1].happened_at, entries.aggregate(at=Min("happened_at"))["at"]
    return newest is not None and oldest is not None and newest < oldest - pairs.LATE


def upward(ledger: LedgerMirror, page: Page) -> list[datetime]:
    """Rows above those that were laid."""
    if not page.start <= ledger.api_high < page.end:
        return []
    rows = page.rows[ledger.api_high - page.start :]
    # Those that it did not show for too long, too: so a view that is very late mends itself.
    again = Q(happened_at__gte=rows[0].happened_at or page.asked_at)
    free = above(ledger).filter(Q(via_api__isnull=True) | again)
    hits, passed = place(rows, free.order_by("position").iterator(chunk_size=500), is_after)
    ledger.api_high += len(hits)
    return mark(hits, True) + mark(passed, False)


def downward(ledger: LedgerMirror, page: Page) -> list[datetime]:
    """Rows beneath those that were laid."""
    if not page.start < ledger.api_low <= page.end:
        return []
    rows = page.rows[: ledger.api_low - page.start][::-1]
    lowest = lowest_told(ledger)
    free = unlaid(ledger).filter(position__lt=ledger.high if lowest is None else lowest)
    hits, passed = place(rows, free.order_by("-position").iterator(chunk_size=500), is_before)
    ledger.api_low -= len(hits)
    return mark(hits, True) + mark(passed, False)


def above(ledger: LedgerMirror) -> QuerySet[LedgerEntry]:
    """Rows newer than the last one that was laid; where none was, from the first that is known."""
    newest = newest_laid(ledger)
    if newest is None:
        newest = (end_of(told_of(ledger), "position") or 0) - 1
    return LedgerEntry.objects.filter(account_id=ledger.pk, position__gt=newest)


def lowest_told(ledger: LedgerMirror) -> int | None:
    """By way of the rows beneath, which have an index; None where nothing is told."""
    newest = newest_laid(ledger)
    if newest is None and (newest := end_of(told_of(ledger), "-position")) is None:
        return None
    highest = end_of(unlaid(ledger).filter(position__lt=newest), "-position")
    return ledger.low if highest is None else highest + 1


def newest_laid(ledger: LedgerMirror) -> int | None:
    """Where the view shows no row, none is looked for: that would go through the whole ledger."""
    return None if ledger.api_low == ledger.api_high else end_of(laid(ledger), "-position")


def never_told(ledger: LedgerMirror) -> Q:
    """Rows of which nobody will tell whether they are the API's while the view does not fit."""
    if not ledger.api_problem:
        return Q(pk__in=())
    lowest = lowest_told(ledger) if ledger.api_problem == APART_BENEATH else None
    untold = Q(via_api__isnull=True)
    return untold if lowest is None else untold & Q(position__lt=lowest)


def end_of(entries: QuerySet[LedgerEntry], order: str) -> int | None:
    return entries.order_by(order).values_list("position", flat=True).first()


def place(
    rows: Sequence[Row], free: Iterator[LedgerEntry], is_past: IsPast
) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
    """The entry of each row, as far as there are any, and those that were passed over. An entry for
    which `is_past` holds is too far from the row for another one behind it to be the row's."""
    hits: list[LedgerEntry] = []
    passed: list[LedgerEntry] = []
    for row in rows:
        over: list[LedgerEntry] = []
        hit = next_of(row, free, over, is_past)
        if hit is None:
            break  # nothing is said of the entries it was looked for in
        hits.append(hit)
        passed += over
    return hits, passed


def next_of(
    row: Row, free: Iterator[LedgerEntry], over: list[LedgerEntry], is_past: IsPast
) -> LedgerEntry | None:
    for entry in free:
        if words_of(entry) == row.words:
            return entry
        if row.happened_at is not None and is_past(entry.happened_at, row.happened_at):
            return None
        over.append(entry)
    return None


def is_before(moment: datetime, rows_own: datetime) -> bool:
    return moment < rows_own - APART_AT_MOST


def is_after(moment: datetime, rows_own: datetime) -> bool:
    return moment > rows_own + APART_AT_MOST


def mark(entries: Iterable[LedgerEntry], via_api: bool) -> list[datetime]:
    listed = [entry for entry in entries if entry.via_api is not via_api]
    for start in range(0, len(listed), LOT):
        lot = [entry.pk for entry in listed[start : start + LOT]]
        LedgerEntry.objects.filter(pk__in=lot).update(via_api=via_api)
    return [entry.happened_at for entry in listed]


def finish(account: Account) -> None:
    """Where the view was laid to its beginning, older rows are not its: a lot in each transaction,
    for which who pays may have to wait."""
    while finish_some(account):
        pass


@transaction.atomic
def finish_some(account: Account) -> bool:
    changes.lock(account)
    ledger = segment.of(account)
    told = beneath(ledger) if is_opened(ledger) else []
    changes.note(account, told, only_told=True)
    return bool(told)


def closing(ledger: LedgerMirror, page: Page) -> list[datetime]:
    """Rows beyond both ends of the view are not of the API."""
    told: list[datetime] = []
    if ledger.api_high == page.total:
        free = above(ledger).filter(via_api__isnull=True, position__lt=page.mirrored)
        while lot := close(overdue(free, page)):
            told += lot
    return told + beneath(ledger)


def overdue(entries: QuerySet[LedgerEntry], page: Page) -> QuerySet[LedgerEntry]:
    """Those that the view would have shown on this page by then, if it ever did."""
    return entries.filter(happened_at__lte=page.asked_at - lag())


def lag() -> timedelta:
    return timedelta(seconds=settings.CHARGE_BOOKED_WITHIN)


def beneath(ledger: LedgerMirror) -> list[datetime]:
    lowest = lowest_told(ledger)
    if ledger.api_low > 0 or lowest is None:
        return []
    return close(unlaid(ledger).filter(position__lt=lowest))


def close(entries: QuerySet[LedgerEntry]) -> list[datetime]:
    """Tell the newest lot of these that they are not of the API."""
    lot = list(entries.order_by("-position").values_list("position", "happened_at")[:LOT])
    if lot:
        entries.filter(position__gte=lot[-1][0]).update(via_api=False)
    return [happened_at for _, happened_at in lot]


def give_up(account: Account, why: str = APART) -> None:
    """Say why the view cannot be laid, and leave it for a while."""
    now = timezone.now()
    # When it was read is left alone beneath: it is of the view's top.
    read_at = {} if why == APART_BENEATH else {"api_read_at": now}
    LedgerMirror.objects.filter(pk=account.pk).update(
        api_problem=why,
        api_tried_at=now,
        api_problem_at=Coalesce("api_problem_at", Value(now)),
        **read_at,
    )
