"""Read the view `source=api`: which of the mirrored rows were spent by tokens of the API.

It is read only while the mirror has rows without attribution, and aligned with them
(`api_view_alignment.py`). A row that it did not show in time is not of the API; where one of our
charges lacks just that debit, the view is read for some time longer, because in a quiet account no
other row would come and correct it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.utils import timezone

from proxyapi.backoff import Backoff
from proxyapi.ledger import backfill, mirror_range
from proxyapi.ledger.api_attribution import unattributed_entries
from proxyapi.ledger.api_view_alignment import (
    API_VIEW_UNAVAILABLE,
    OLDER_API_VIEW_MISMATCH,
    align_page,
    entries_newer_than_api_view,
    finish_attribution,
    is_alignment_started,
    lowest_attributed_position,
    remember_api_view_end,
    restart_alignment,
    start_alignment,
    suspend_alignment,
)
from proxyapi.ledger.matching import build_match_candidate
from proxyapi.ledger.matching_rules import MATCH_SEARCH_MARGIN, WIDEST_WINDOW, MatchCandidate
from proxyapi.ledger.page_reader import API_SOURCE, LedgerReader, UpstreamLedgerPage
from proxyapi.models import Charge, ChargeState, LedgerEntry, LedgerMirror
from proxyapi.upstream import errors

API_VIEW_UNSUPPORTED_ERRORS = (
    errors.BadRequest,
    errors.NotFound,
    errors.MethodNotAllowed,
    errors.ValidationFailed,
)
MAX_API_VIEW_ATTEMPTS = 2
PROBE_PERMIT_WAIT_S = 8.0  # seconds; a later turn has no use for it
# Before a view that does not fit is tried again. One that shows only some of several equal new rows
# fits a minute later.
API_VIEW_BACKOFF = Backoff(timedelta(minutes=1), timedelta(hours=1))


def sync_api_view(
    source: LedgerReader, since: datetime | None = None, most: int | None = None
) -> None:
    """Attribute every mirrored row, or those since then; no request when there is none.

    `most` bounds the pages read below the newest one. A service without such a view is not asked
    again for a while; the ledger itself is still read.
    """
    try:
        sync_unattributed_rows(source, since, most)
    except API_VIEW_UNSUPPORTED_ERRORS:
        suspend_alignment(source.account, API_VIEW_UNAVAILABLE)


def sync_unattributed_rows(source: LedgerReader, since: datetime | None, most: int | None) -> None:
    account, asked = source.account, 0
    ledger = mirror_range.get_or_create_ledger(account)
    if ledger.problem or not is_api_view_behind(ledger, since):
        return
    resting = is_api_view_backing_off(ledger)
    if resting and not (
        ledger.api_problem == OLDER_API_VIEW_MISMATCH and is_alignment_started(ledger)
    ):
        return
    laid = (
        sync_newest_api_rows(source, ledger, resting)
        if needs_newest_api_page(ledger, resting)
        else ledger
    )
    if laid is None or resting:
        return  # only older rows do not fit
    ledger = laid
    while ledger.api_low > 0 and needs_older_api_pages(ledger, since) and asked != most:
        page, before, asked = (
            source.fetch_page_at(ledger.api_low - 1, API_SOURCE),
            ledger.api_low,
            asked + 1,
        )
        ledger = align_page(account, page)
        if ledger.api_low == before:
            if ledger.low == 0:
                suspend_alignment(account, OLDER_API_VIEW_MISMATCH)
            break  # the older rows are not mirrored yet
    if unattributed_entries(ledger).exists():
        finish_attribution(account)


def is_api_view_behind(ledger: LedgerMirror, since: datetime | None = None) -> bool:
    """Whether some row is not attributed, or may be shown late."""
    rows = unattributed_entries(ledger)
    unknown = rows.filter(happened_at__gte=since) if since else rows
    return unknown.exists() or may_have_missed_debit(ledger)


def may_have_missed_debit(ledger: LedgerMirror) -> bool:
    """Whether a row that the view did not show in time may be the debit of a charge that lacks one.
    So for ten minutes after it was settled or its answer was given up."""
    claims = recent_candidates_without_debit(ledger)
    if not claims:
        return False
    rows = entries_newer_than_api_view(ledger).filter(via_api=False, charge__isnull=True)
    since = min(one.booked_from for one in claims) - MATCH_SEARCH_MARGIN
    near = list(rows.filter(amount__lt=0, happened_at__gte=since))
    return any(may_be_debit_of(row, one) for one in claims for row in near)


def recent_candidates_without_debit(ledger: LedgerMirror) -> list[MatchCandidate]:
    charges, now = Charge.objects.filter(account_id=ledger.pk), timezone.now()
    # A call that may take minutes is given up for good only when its longest time is over.
    lost = charges.filter(state=ChargeState.UNKNOWN, lost_at__gte=now - MATCH_SEARCH_MARGIN)
    settled = charges.without_debit().filter(settled_at__range=(now - MATCH_SEARCH_MARGIN, now))
    return [build_match_candidate(charge) for charge in (*settled, *lost)]


def may_be_debit_of(row: LedgerEntry, one: MatchCandidate) -> bool:
    is_lost = one.charge.state == ChargeState.UNKNOWN
    fits = one.charge.can_cost(-row.amount) if is_lost else one.cost == -row.amount
    return fits and one.accepts_entry(row, WIDEST_WINDOW)


def is_api_view_backing_off(ledger: LedgerMirror) -> bool:
    """Whether the view, which did not fit at the last try, is not read again yet."""
    tried = ledger.api_tried_at
    if not ledger.api_problem or tried is None:
        return False
    delay = API_VIEW_BACKOFF.delay_after(tried - (ledger.api_problem_at or tried))
    return tried > timezone.now() - delay


def needs_newest_api_page(ledger: LedgerMirror, resting: bool = False) -> bool:
    """Whether the view has to be read at its end, not only below."""
    if (ledger.api_problem and not resting) or not is_alignment_started(ledger):
        return True
    if ledger.api_read_at and ledger.read_at and ledger.api_read_at >= ledger.read_at:
        return False  # what it lacked is asked for after the ledger's next reading
    return entries_newer_than_api_view(ledger).filter(
        via_api__isnull=True
    ).exists() or may_have_missed_debit(ledger)


def needs_older_api_pages(ledger: LedgerMirror, since: datetime | None) -> bool:
    """Whether it has to be read below the aligned rows."""
    lowest = lowest_attributed_position(ledger)
    rows = unattributed_entries(ledger).filter(
        position__lt=ledger.high if lowest is None else lowest
    )
    return (rows.filter(happened_at__gte=since) if since else rows).exists()


def sync_newest_api_rows(
    source: LedgerReader, ledger: LedgerMirror, resting: bool = False
) -> LedgerMirror | None:
    """Align the view's newest rows; None where that is not possible now."""
    account, stuck = source.account, 0
    if ledger.api_problem and not resting:
        ledger = restart_alignment(account)
    was_opened = is_alignment_started(ledger)
    page = fetch_newest_api_page(source, ledger, was_opened)
    if not was_opened and not try_start_alignment(source, page):
        return None
    while stuck <= MAX_API_VIEW_ATTEMPTS:
        ledger = align_page(account, page)
        if not is_alignment_started(ledger):
            return None  # the view changed; the next round starts again
        if ledger.api_high == page.total:
            return ledger
        if ledger.api_high == page.end:
            page = source.fetch_page_at(ledger.api_high, API_SOURCE)
        else:
            # The next row is newer than the mirror, or fits nowhere.
            stuck += 1
            if backfill.catch_up_to_end(source).problem:
                return None  # it is the ledger itself that differs
    suspend_alignment(account)
    return None


def fetch_newest_api_page(
    source: LedgerReader, ledger: LedgerMirror, was_opened: bool
) -> UpstreamLedgerPage:
    """The page of the newest aligned row, where the next row comes; without one, the view's last
    page. A page beyond the end is not requested: the service may refuse it."""
    if was_opened:
        # With one request a turn, a full page would be read again and again.
        next_ = ledger.api_high if ledger.api_read_at is None else max(ledger.api_high, 1) - 1
        return source.fetch_page_at(next_, API_SOURCE)
    page = source.fetch_page_at(max(ledger.api_high, 1) - 1, API_SOURCE)
    for _ in range(MAX_API_VIEW_ATTEMPTS):
        if page.end == page.total:
            break
        remember_api_view_end(source.account, page)
        page = source.fetch_page_at(page.total - 1, API_SOURCE)
    return page


def try_start_alignment(source: LedgerReader, page: UpstreamLedgerPage) -> bool:
    account = source.account
    if is_alignment_started(start_alignment(account, page)):
        return True
    if not is_ledger_unchanged(source, page):
        return False
    ledger = start_alignment(account, page, still=True)
    if not is_alignment_started(ledger) and page.rows and ledger.low == 0 and not ledger.problem:
        suspend_alignment(account)  # otherwise its newest row may not be mirrored yet
    return is_alignment_started(ledger)


def is_ledger_unchanged(source: LedgerReader, page: UpstreamLedgerPage) -> bool:
    """Whether no row came between the reading of the mirror's end and of the view's page. Any page
    tells the ledger's length, so the next older one is read."""
    ledger = mirror_range.get_or_create_ledger(source.account)
    patient = replace(source, patience=max(source.patience, PROBE_PERMIT_WAIT_S))
    probe = patient.fetch_page_at(max(ledger.low or ledger.high, 1) - 1)
    ledger = mirror_range.apply_page(source.account, probe)
    return page.end == page.total and probe.total == page.mirrored_total == ledger.high
