"""The view `source=api`: which of the mirrored rows were spent by tokens of the API.

It is read only when the mirror has rows of which that is not known, and laid over them
(`overlay.py`).

A row that it did not show in time is not of the API. Where one of our charges misses that very row,
the view is asked on for a while: in a quiet account no other row would come and correct it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.utils import timezone

from proxyapi.ledger import growth, segment
from proxyapi.ledger.matching import claim
from proxyapi.ledger.overlay import (
    APART_BENEATH,
    NOT_SHOWN,
    above,
    begin,
    finish,
    give_up,
    is_opened,
    lay,
    lowest_told,
    remember_end,
    start_anew,
)
from proxyapi.ledger.page import API, Page, Reader
from proxyapi.ledger.pairs import ANY_TIME, FAR, Claim
from proxyapi.ledger.told import unlaid
from proxyapi.models import Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors

NO_VIEW = (errors.WrongArguments, errors.NotFound, errors.MethodNotAllowed, errors.Invalid)
TRIES = 2
PATIENCE = 8.0  # seconds, for a request that is worth nothing in another turn
# Before a view that does not fit is tried again, at first and at most. One that lags does not fit
# where equal rows came at once, of which it shows some: a minute later it does.
REST, REST_AT_MOST = timedelta(minutes=1), timedelta(hours=1)


def follow(source: Reader, since: datetime | None = None, most: int | None = None) -> None:
    """Tell of every mirrored row, or of those since then, whether the view shows it.

    Nothing is asked when nothing is open. Beneath its newest page at most so many are read. A
    service that has no such view is not asked again for a while; the ledger itself goes on.
    """
    try:
        lay_on(source, since, most)
    except NO_VIEW:
        give_up(source.account, NOT_SHOWN)


def lay_on(source: Reader, since: datetime | None, most: int | None) -> None:
    account, asked = source.account, 0
    ledger = segment.of(account)
    if ledger.problem or not is_open(ledger, since):
        return
    resting = rests(ledger)
    if resting and not (ledger.api_problem == APART_BENEATH and is_opened(ledger)):
        return
    laid = top(source, ledger, resting) if is_top_open(ledger, resting) else ledger
    if laid is None or resting:
        return  # new rows are told all the same; what does not fit lies beneath them
    ledger = laid
    while ledger.api_low > 0 and is_bottom_open(ledger, since) and asked != most:
        page, before, asked = source.page_at(ledger.api_low - 1, API), ledger.api_low, asked + 1
        ledger = lay(account, page)
        if ledger.api_low == before:
            if ledger.low == 0:
                give_up(account, APART_BENEATH)
            break  # the rows beneath it are not mirrored yet
    if unlaid(ledger).exists():
        finish(account)


def is_open(ledger: LedgerMirror, since: datetime | None = None) -> bool:
    """Whether the view was not yet laid over some row, or may show one late."""
    rows = unlaid(ledger)
    unknown = rows.filter(happened_at__gte=since) if since else rows
    return unknown.exists() or is_missed(ledger)


def is_missed(ledger: LedgerMirror) -> bool:
    """Whether a row that the view did not show in time may be the debit of a charge without one.

    For ten minutes after its settling, or after its answer was given up, in which the view is asked
    once with each reading.
    """
    claims = claims_without_debit(ledger)
    if not claims:
        return False
    rows = above(ledger).filter(via_api=False, charge__isnull=True)
    since = min(one.start for one in claims) - FAR
    near = list(rows.filter(amount__lt=0, happened_at__gte=since))
    return any(may_be_its(row, one) for one in claims for row in near)


def claims_without_debit(ledger: LedgerMirror) -> list[Claim]:
    """Of the last ten minutes; those whose answer got lost claim their price, which may differ."""
    charges, now = Charge.objects.filter(account_id=ledger.pk), timezone.now()
    # A call that may take minutes is given up for good only when its longest time is over.
    lost = charges.filter(state=ChargeState.UNKNOWN, lost_at__gte=now - FAR)
    settled = charges.without_debit().filter(settled_at__range=(now - FAR, now))
    return [claim(charge) for charge in (*settled, *lost)]


def may_be_its(row: LedgerEntry, one: Claim) -> bool:
    is_lost = one.charge.state == ChargeState.UNKNOWN
    fits = one.charge.can_cost(-row.amount) if is_lost else one.cost == -row.amount
    return fits and one.holds(row, ANY_TIME)


def rests(ledger: LedgerMirror) -> bool:
    """For as long again as it has not fitted by then."""
    tried = ledger.api_tried_at
    if not ledger.api_problem or tried is None:
        return False
    rest = min(max(tried - (ledger.api_problem_at or tried), REST), REST_AT_MOST)
    return tried > timezone.now() - rest


def is_top_open(ledger: LedgerMirror, resting: bool = False) -> bool:
    """Whether the view has to be read at its end, not only beneath."""
    if (ledger.api_problem and not resting) or not is_opened(ledger):
        return True
    if ledger.api_read_at and ledger.read_at and ledger.api_read_at >= ledger.read_at:
        return False  # what it did not show then is waited for until the ledger is read again
    return above(ledger).filter(via_api__isnull=True).exists() or is_missed(ledger)


def is_bottom_open(ledger: LedgerMirror, since: datetime | None) -> bool:
    """Whether it has to be read beneath what was laid."""
    lowest = lowest_told(ledger)
    rows = unlaid(ledger).filter(position__lt=ledger.high if lowest is None else lowest)
    return (rows.filter(happened_at__gte=since) if since else rows).exists()


def top(source: Reader, ledger: LedgerMirror, resting: bool = False) -> LedgerMirror | None:
    """Lay the view's newest rows; nothing where they cannot be laid now."""
    account, stuck = source.account, 0
    if ledger.api_problem and not resting:
        ledger = start_anew(account)
    was_opened = is_opened(ledger)
    page = first_page(source, ledger, was_opened)
    if not was_opened and not opened(source, page):
        return None
    while stuck <= TRIES:
        ledger = lay(account, page)
        if not is_opened(ledger):
            return None  # it changed under us; the next round begins anew
        if ledger.api_high == page.total:
            return ledger
        if ledger.api_high == page.end:
            page = source.page_at(ledger.api_high, API)
        else:
            # The next row is newer than the mirror, or fits nowhere.
            stuck += 1
            if growth.catch_up(source).problem:
                return None  # it is the ledger itself that differs
    give_up(account)
    return None


def first_page(source: Reader, ledger: LedgerMirror, was_opened: bool) -> Page:
    """The page of the newest row that was laid, where the next one comes; of a view that was not
    laid yet, its last page. A page beyond the end is not asked for, which a service may refuse.

    Of the last page the end is kept, should the next request have to wait for another turn.
    """
    if was_opened:
        # Where the next page is known to be there, one request a turn would read this one for ever.
        next_ = ledger.api_high if ledger.api_read_at is None else max(ledger.api_high, 1) - 1
        return source.page_at(next_, API)
    page = source.page_at(max(ledger.api_high, 1) - 1, API)
    for _ in range(TRIES):
        if page.end == page.total:
            break
        remember_end(source.account, page)
        page = source.page_at(page.total - 1, API)
    return page


def opened(source: Reader, page: Page) -> bool:
    """Begin to lay the view, from its last page."""
    account = source.account
    if is_opened(begin(account, page)):
        return True
    if not is_still(source, page):
        return False
    ledger = begin(account, page, still=True)
    if not is_opened(ledger) and page.rows and ledger.low == 0 and not ledger.problem:
        give_up(account)  # else its newest row is among those that are not mirrored yet
    return is_opened(ledger)


def is_still(source: Reader, page: Page) -> bool:
    """Whether no row came since the mirror's end was read, before the view's page was asked for.

    Any page tells the ledger's end: the next older one, while there is one to be read.
    """
    ledger = segment.of(source.account)
    patient = replace(source, patience=max(source.patience, PATIENCE))
    probe = patient.page_at(max(ledger.low or ledger.high, 1) - 1)
    ledger = segment.lay(source.account, probe)
    return page.end == page.total and probe.total == page.mirrored == ledger.high
