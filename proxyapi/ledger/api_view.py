"""The view `source=api` laid over the mirrored rows: which of them were spent by API tokens.

Its rows are the mirror's with gaps, in the same order and without ids, too. So they are laid
greedily, each on the next row of the same words, always from an end where both are known to meet:
upward from the last row that was laid, downward from the lowest. A row that is passed over is not
of the API (pitfall 65). Equal rows side by side may swap; their words and amounts are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Min, QuerySet
from django.utils import timezone

from proxyapi.ledger import changes, growth, pairs, segment
from proxyapi.ledger.page import API, Page, Reader
from proxyapi.ledger.row import Row, words_of
from proxyapi.models import Account, DaySum, Entry, Ledger

TRIES = 2
REST = timedelta(hours=1)  # before a view that does not fit is tried again
APART = (
    "The service's view of API spend shows a row that its whole ledger does not show. "
    "Which rows are of the API is not known from there on."
)


def follow(source: Reader, since: datetime | None = None, most: int | None = None) -> None:
    """Tell of every mirrored row, or of those since then, whether the view shows it.

    Nothing is asked when nothing is open. Beneath its newest page at most so many are read.
    """
    account, asked = source.account, 0
    ledger = segment.of(account)
    if ledger.problem or rests(ledger) or not is_open(account, since):
        return
    if not top(source):
        return
    ledger = segment.of(account)
    while ledger.api_low > 0 and is_open(account, since) and asked != most:
        page, before, asked = source.page_at(ledger.api_low - 1, API), ledger.api_low, asked + 1
        ledger = lay(account, page)
        if ledger.api_low == before:
            if ledger.low == 0:
                give_up(account)
            break  # the rows beneath it are not mirrored yet


def is_open(account: Account, since: datetime | None = None) -> bool:
    """Whether the view was not yet laid over some row."""
    rows = Entry.objects.filter(account=account, via_api__isnull=True)
    return (rows.filter(happened_at__gte=since) if since else rows).exists()


def rests(ledger: Ledger) -> bool:
    tried = ledger.api_read_at
    return bool(ledger.api_problem) and tried is not None and tried > timezone.now() - REST


def top(source: Reader) -> bool:
    """Lay the view's newest rows; False where they do not fit."""
    account, stuck = source.account, 0
    start_anew(account)
    page = first_page(source)
    while stuck <= TRIES:
        ledger = lay(account, page)
        if ledger.api_high == page.total:
            return True
        if ledger.api_high == page.end:
            page = source.page_at(ledger.api_high, API)
            continue
        if not is_opened(ledger) and ledger.low > 0:
            return False  # its newest row may be among the older ones that are not mirrored yet
        # The next row is newer than the mirror, or fits nowhere.
        stuck += 1
        growth.catch_up(source)
        page = page if is_opened(ledger) else first_page(source)
    give_up(account)
    return False


def first_page(source: Reader) -> Page:
    """The page that holds the last row that was laid; of a view that was not, its last page."""
    ledger = segment.of(source.account)
    page = source.page_at(max(ledger.api_high, 1) - 1, API)
    for _ in range(TRIES):
        if is_opened(ledger) or page.end >= page.total:
            break
        page = source.page_at(page.total - 1, API)
    return page


@transaction.atomic
def start_anew(account: Account) -> None:
    """What did not fit is tried from the end again."""
    changes.lock(account)
    ledger = segment.of(account)
    if ledger.api_problem:
        forget(ledger)
        ledger.api_problem = ""
        ledger.save(update_fields=["api_low", "api_high", "api_problem"])


@transaction.atomic
def lay(account: Account, page: Page) -> Ledger:
    """Lay a page of the view over the mirror; answers how far it is laid now."""
    changes.lock(account)
    ledger = segment.of(account)
    if not agrees(ledger, page):
        forget(ledger)
    opening = page.end == page.total and not is_opened(ledger)
    if opening:
        ledger.api_low = ledger.api_high = page.total
    told = [*downward(ledger, page, opening), *upward(ledger, page)]
    if opening and page.total and not told and not is_beneath(ledger, page):
        ledger.api_low = ledger.api_high = 0  # not even its newest row fits: it is not open yet
    else:
        told += closing(ledger, page)
    if ledger.api_high == page.total:
        ledger.api_read_at, ledger.api_problem = page.asked_at, ""
    ledger.save(update_fields=["api_low", "api_high", "api_read_at", "api_problem"])
    changes.note(account, told)
    return ledger


def is_opened(ledger: Ledger) -> bool:
    """Whether anything is known of the view; it may show no row at all."""
    return told_of(ledger).exists()


def agrees(ledger: Ledger, page: Page) -> bool:
    """Whether the last row that was laid still reads the same."""
    if page.total < min(page.known, ledger.api_high):
        return False
    last = ledger.api_high - 1
    if not page.start <= last < page.end:
        return True
    entry = laid(ledger).order_by("-position").first()
    return entry is None or words_of(entry) == page.rows[last - page.start].words


def is_beneath(ledger: Ledger, page: Page) -> bool:
    """Whether even the view's newest row is clearly older than all that is mirrored."""
    rows = Entry.objects.filter(account_id=ledger.pk)
    newest, oldest = page.rows[-1].happened_at, rows.aggregate(at=Min("happened_at"))["at"]
    return newest is not None and oldest is not None and newest < oldest - pairs.LATE


def laid(ledger: Ledger) -> QuerySet[Entry]:
    return Entry.objects.filter(account_id=ledger.pk, via_api=True)


def told_of(ledger: Ledger) -> QuerySet[Entry]:
    """Rows of which it is known; they have no gap."""
    return Entry.objects.filter(account_id=ledger.pk, via_api__isnull=False)


def unlaid(ledger: Ledger) -> QuerySet[Entry]:
    return Entry.objects.filter(account_id=ledger.pk, via_api__isnull=True)


def upward(ledger: Ledger, page: Page) -> list[datetime]:
    """Rows above those that were laid."""
    if not page.start <= ledger.api_high < page.end:
        return []
    rows = page.rows[ledger.api_high - page.start :]
    highest = end_of(told_of(ledger), "-position")
    free = unlaid(ledger).filter(position__gt=-1 if highest is None else highest)
    hits, passed = place(rows, free.order_by("position").iterator(chunk_size=500))
    ledger.api_high += len(hits)
    return mark(hits, True) + mark(passed, False)


def downward(ledger: Ledger, page: Page, opening: bool) -> list[datetime]:
    """Rows beneath those that were laid."""
    if not page.start < ledger.api_low <= page.end:
        return []
    rows = page.rows[: ledger.api_low - page.start][::-1]
    lowest = end_of(told_of(ledger), "position")
    free = unlaid(ledger).filter(position__lt=ledger.high if lowest is None else lowest)
    hits, passed = place(rows, free.order_by("-position").iterator(chunk_size=500))
    if opening and hits:
        # What came after the view was asked for may be of the API all the same.
        newest = hits[0].position
        passed = [it for it in passed if it.position < page.mirrored or it.position < newest]
    ledger.api_low -= len(hits)
    return mark(hits, True) + mark(passed, False)


def end_of(entries: QuerySet[Entry], order: str) -> int | None:
    return entries.order_by(order).values_list("position", flat=True).first()


def place(rows: Sequence[Row], free: Iterator[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The entry of each row, as far as there are any, and those that were passed over."""
    hits: list[Entry] = []
    passed: list[Entry] = []
    for row in rows:
        over: list[Entry] = []
        hit = next_of(row, free, over)
        if hit is None:
            break  # nothing is said of the entries it was looked for in
        hits.append(hit)
        passed += over
    return hits, passed


def next_of(row: Row, free: Iterator[Entry], over: list[Entry]) -> Entry | None:
    for entry in free:
        if words_of(entry) == row.words:
            return entry
        over.append(entry)
    return None


def mark(entries: Iterable[Entry], via_api: bool) -> list[datetime]:
    listed = list(entries)
    Entry.objects.filter(pk__in=[entry.pk for entry in listed]).update(via_api=via_api)
    return [entry.happened_at for entry in listed]


def closing(ledger: Ledger, page: Page) -> list[datetime]:
    """Rows beyond both ends of the view are not of the API."""
    told: list[datetime] = []
    if ledger.api_high == page.total:
        highest = end_of(told_of(ledger), "-position")
        above = unlaid(ledger).filter(position__gt=-1 if highest is None else highest)
        told += close(above.filter(position__lt=page.mirrored))
    lowest = end_of(told_of(ledger), "position")
    if ledger.api_low == 0 and lowest is not None:
        told += close(unlaid(ledger).filter(position__lt=lowest))
    return told


def close(entries: QuerySet[Entry]) -> list[datetime]:
    times = list(entries.values_list("happened_at", flat=True))
    entries.update(via_api=False)
    return times


def forget(ledger: Ledger) -> None:
    """The view changed under us: it is laid anew from its end."""
    Entry.objects.filter(account_id=ledger.pk).update(via_api=None)
    ledger.api_low = ledger.api_high = 0
    days = DaySum.objects.filter(account_id=ledger.pk).values_list("day", flat=True).distinct()
    changes.note_days(ledger.account, set(days))


def give_up(account: Account) -> None:
    """Say that the view does not fit, and leave it for a while."""
    Ledger.objects.filter(pk=account.pk).update(api_problem=APART, api_read_at=timezone.now())
